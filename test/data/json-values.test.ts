import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasMoreValues } from "../../src/data/json-values.js";

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
});
