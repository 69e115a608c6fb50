import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Wildcard } from "../../src/kubernetes/wildcard.js";

describe("wildcards", () => {
  const matching: readonly (readonly [string, string])[] = [
    ["", ""],
    ["*", ""],
    ["*", "any.thing/*"],
    ["**", ""],
    ["a*", "a"],
    ["*a", "ba"],
    ["a*b*c", "aXbYbZc"],
    ["*ab", "aab"],
    ["a*a", "aa"],
    ["é*😀", "é😀😀"],
    ["[a]?\\", "[a]?\\"],
    ["*.example.com", "a.b.example.com"],
  ];
  const others: readonly (readonly [string, string])[] = [
    ["", "a"],
    ["a", ""],
    ["a*a", "a"],
    ["a?", "ab"],
    ["a", "A"],
    ["*a", "ab"],
    ["*.example.com", "example.com"],
    ["a*b", "axbx"],
    ["a*bc*cd", "abcd"],
    ["*ab*ba*", "aba"],
    ["a*b*b", "ab"],
  ];
  for (const [pattern, text] of matching) {
    test(`${JSON.stringify(pattern)} fits ${JSON.stringify(text)}`, () =>
      assert.ok(new Wildcard(pattern).matches(text)));
  }
  for (const [pattern, text] of others) {
    test(`${JSON.stringify(pattern)} does not fit ${JSON.stringify(text)}`, () =>
      assert.ok(!new Wildcard(pattern).matches(text)));
  }

  test("a text that nearly fits a pattern of many stars takes no time", () => {
    // With a step back to every star it would take longer than the world lasts.
    assert.ok(!new Wildcard(`${"a*".repeat(100)}b`).matches("a".repeat(10_000)));
  });
});
