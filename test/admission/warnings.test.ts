import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { presentableWarnings } from "../../src/admission/warnings.js";

describe("warnings within the API server's limits", () => {
  test("good ones stay as they are", () => {
    const warnings = ["first warning", "second, with ümläuts"];
    assert.equal(presentableWarnings(warnings), warnings);
  });

  test("line breaks become spaces, empty ones vanish, long ones end in an ellipsis", () => {
    assert.deepEqual(presentableWarnings(["a\n  b\tc", "", " \n ", "x".repeat(300), "💡".repeat(257)]), [
      "a b c",
      `${"x".repeat(255)}…`,
      `${"💡".repeat(255)}…`,
    ]);
  });

  test("beyond 4096 characters the rest is counted", () => {
    const lines = presentableWarnings(Array.from({ length: 50 }, (_, i) => `${i} ${"y".repeat(200)}`));
    assert.ok(lines.join("").length <= 4096);
    assert.equal(lines.at(-1), `… and ${50 - (lines.length - 1)} more warnings`);
  });
});
