import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasMoreValues, tooManyIn } from "../../src/data/json-values.js";

describe("the values of a text", () => {
  const cases: readonly (readonly [text: string, values: number])[] = [
    ["[[],{},[1,2,3]]", 8],
    ['{"a":[],"b":{"c":"d"},"e":true}', 5],
    ['["[[,,{{","\\\\",",\\",",1]', 4],
    ["[".repeat(1_000), 1_000],
  ];
  for (const [text, values] of cases) {
    test(`of ${text.slice(0, 20)}… are counted outside of its strings`, () => {
      // Padded, since a short text cannot have many.
      const padded = text + " ".repeat(2 * values + 2);
      assert.equal(hasMoreValues(padded, values), false);
      assert.equal(hasMoreValues(padded, values - 1), true);
    });
  }

  test("of a string that does not end are the reader's to tell", () => {
    assert.equal(hasMoreValues(`[[[["${"[".repeat(100)}`, 4), false);
  });

  test("are those of each object, too, however it is nested, and of no list", () => {
    const wide = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"${i}":[",{",{"a":1}]`)}}`;
    const bounds = { values: 1_000, members: 10 };
    for (const around of [
      (text: string) => text,
      (text: string) => `[{"a":1},${text},{}]`,
      (text: string) => `{"a":${text}}`,
    ]) {
      const padded = (text: string): string => around(text) + " ".repeat(2_002);
      assert.equal(tooManyIn(padded(wide(10)), bounds), undefined);
      assert.equal(tooManyIn(padded(wide(11)), bounds), "members");
      assert.equal(tooManyIn(padded(`[${"1,".repeat(20)}1]`), bounds), undefined);
      assert.equal(tooManyIn(padded(`[${`${wide(3)},`.repeat(8)}1]`), bounds), undefined);
      assert.equal(tooManyIn(padded(`[${"1,".repeat(1_000)}1]`), bounds), "values");
    }
    assert.equal(tooManyIn(`]}},,,,${" ".repeat(2_002)}`, bounds), undefined);
  });
});
