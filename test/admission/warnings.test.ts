import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { presentableWarnings } from "../../src/admission/warnings.js";

describe("warnings within the API server's limits", () => {
  test("good ones stay as they are", () => {
    const warnings = ["first warning", "second, with ümläuts"];
    assert.equal(presentableWarnings(warnings), warnings);
  });

  test("line breaks become spaces, empty ones vanish", () => {
    assert.deepEqual(presentableWarnings(["a\n  b\tc", "", " \n "]), ["a b c"]);
  });

  test("long ones stay whole while all together fit; else each ends in an ellipsis", () => {
    const long = ["x".repeat(300), "💡".repeat(257), "y".repeat(3_282)];
    assert.equal(presentableWarnings(long), long);
    const cut = [`${"x".repeat(255)}…`, `${"💡".repeat(255)}…`, `${"y".repeat(255)}…`, "z"];
    assert.deepEqual(presentableWarnings([...long, "z"]), cut);
  });

  test("the line that counts the rest has room, too", () => {
    // 4096 characters to the last one, and one warning more.
    const lines = presentableWarnings([...Array.from({ length: 16 }, () => "z".repeat(256)), "one more"]);
    assert.equal(lines.at(-1), "… and 2 more warnings");
    assert.ok(lines.join("").length <= 4096);
  });

  test("beyond 4096 characters the rest is counted", () => {
    const lines = presentableWarnings(Array.from({ length: 50 }, (_, i) => `${i} ${"y".repeat(200)}`));
    assert.ok(lines.join("").length <= 4096);
    assert.equal(lines.at(-1), `… and ${50 - (lines.length - 1)} more warnings`);
  });

  test("one that is not good is made so beside good ones", () => {
    assert.deepEqual(presentableWarnings(["good", "a\nb"]), ["good", "a b"]);
    assert.deepEqual(presentableWarnings(["good", ""]), ["good"]);
  });

  test("4096 characters are all shown, one more is not", () => {
    const full = Array.from({ length: 16 }, () => "z".repeat(256));
    assert.equal(presentableWarnings(full), full);
    assert.deepEqual(presentableWarnings([...full, "\n"]), full);
    assert.equal(presentableWarnings([...full, "w"]).at(-1), "… and 2 more warnings");
    // What fits beside the line that counts the rest is kept to the last character.
    const fitting = [...full.slice(0, 15), "z".repeat(216)];
    assert.deepEqual(presentableWarnings([...fitting, "z".repeat(256)]), [...fitting, "… and 1 more warnings"]);
  });
});
