/** Short texts are cut and joined by loops of our own, long ones by built-in functions: both do the same. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { join, lowerAscii, replace, split, upperAscii } from "../../../src/cel/stdlib/string-edits.js";
import { codePointLength } from "../../../src/cel/values/code-points.js";

/** Texts of every length around the limits, of letters that are alike in some way. */
const TEXTS = [0, 1, 2, 3, 12, 13, 31, 32, 33, 34, 255, 256, 257, 400].flatMap((length) =>
  ["a", "ab", "aab", "Ab-", "äK\u212a", "a🙂", "\ud83d", "\udc00\ud800"].map((unit) =>
    unit.repeat(Math.ceil(length / unit.length)).slice(0, length),
  ),
);

describe("strings made of other strings", () => {
  test("split and replace find what the built-in functions find", () => {
    for (const text of TEXTS) {
      for (const part of ["a", "aa", "ab", "-", "b-", "\ude42", "x"]) {
        assert.deepEqual(split(text, part), text.split(part), `${text} ${part}`);
        assert.equal(replace(text, part, "<>"), text.split(part).join("<>"), `${text} ${part}`);
      }
    }
  });

  test("join puts the separator between any number of texts", () => {
    for (const count of [0, 1, 2, 15, 16, 17, 18, 100]) {
      const texts = Array.from({ length: count }, (_, index) => `${index}`);
      for (const separator of ["", ",", ", "]) assert.equal(join(texts, separator), texts.join(separator));
    }
  });

  test("only the letters of ASCII have another case", () => {
    for (const [text, lower, upper] of [
      ["aBcXyZ-019_", "abcxyz-019_", "ABCXYZ-019_"],
      ["ÄöK\u212aİıſß", "Äök\u212aİıſß", "ÄöK\u212aİıſß"],
      ["", "", ""],
      ["Ǆ🙂Z", "Ǆ🙂z", "Ǆ🙂Z"],
    ] as const) {
      assert.equal(lowerAscii(text), lower);
      assert.equal(upperAscii(text), upper);
    }
  });

  test("a text has as many code points as it is made of", () => {
    for (const text of TEXTS) assert.equal(codePointLength(text), [...text].length, text);
  });
});
