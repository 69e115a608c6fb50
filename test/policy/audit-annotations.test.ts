import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotationKeys, cutValue, withFailures } from "../../src/policy/audit-annotations.js";

/** What the API server takes behind the webhook's name and a slash. */
const TAKEN = /^([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;

describe("keys of audit annotations of several policies", () => {
  test("are the policy's name and the key", () => {
    assert.deepEqual(annotationKeys([["a-b", "validation_failure", "v"]]), { "a-b.validation_failure": "v" });
  });

  test("are ones that the API server takes, whatever policies are called", () => {
    const long = "n".repeat(300);
    const keys = Object.keys(
      annotationKeys([
        [long, "validation_failure", "1"],
        [`${long}2`, "validation_failure", "2"],
        ["p", "k".repeat(100), "3"],
        ["p", "a/b", "4"],
        ["_p_", "_", "5"],
      ]),
    );
    assert.equal(keys.length, 5);
    for (const key of keys) assert.match(key, TAKEN);
    assert.ok(keys[0]?.endsWith(".validation_failure"));
  });

  test("two that would have the same are told apart", () => {
    assert.equal(
      Object.keys(
        annotationKeys([
          ["a", "b.c", "1"],
          ["a.b", "c", "2"],
        ]),
      ).length,
      2,
    );
  });
});

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

test("what Audit found in all members of a group together is at most 1 MiB, of one member 64 KiB", () => {
  const found = Array.from({ length: 256 * 20 }, (_, i) => {
    return {
      action: "Audit",
      message: "x".repeat(6_000),
      member: `m${i % 256}`,
      index: i,
      actions: ["Audit"],
    } as const;
  });
  const values = Object.values(withFailures(undefined, found) ?? {});
  const bytes = values.map((value) => Buffer.byteLength(value));
  assert.ok(Math.max(...bytes) <= 65_536 && Math.max(...bytes) > 60_000, `${bytes}`);
  const all = bytes.reduce((sum, each) => sum + each, 0);
  assert.ok(all <= 1_048_576 && all > 1_000_000, `${all}`);
});
