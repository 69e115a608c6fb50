import assert from "node:assert/strict";
import { test } from "node:test";
import { cutValue } from "../../../src/kinds/validating-admission-policy/audit.js";

test("a value of an annotation is cut to 10 KiB, between characters", () => {
  const limit = 10_240;
  assert.equal(cutValue("a".repeat(limit)), "a".repeat(limit));
  assert.equal(cutValue("a".repeat(limit + 1)), "a".repeat(limit));
  for (const [character, bytes] of [
    ["é", 2],
    ["過", 3],
    ["\u{1f600}", 4],
  ] as const) {
    for (let before = 0; before < bytes; before++) {
      // The last character that begins within the limit ends behind it, by each number of its bytes.
      const start = "a".repeat(limit - before);
      assert.equal(cutValue(`${start}${character}${character}`), start, `${character}: ${before}`);
    }
    const whole = `${"a".repeat(limit - bytes)}${character}`;
    assert.equal(cutValue(`${whole}b`), whole);
  }
});
