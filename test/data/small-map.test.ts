import assert from "node:assert/strict";
import { test } from "node:test";
import { SmallMap } from "../../src/data/small-map.js";

test("a small map has the entries that were set last, and its keys in their order", () => {
  const map = new SmallMap<number>();
  assert.deepEqual([map.keys, map.get("a")], [[], undefined]);
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
    ["c", 4],
    ["b", 5],
  ] as const)
    map.set(key, value);
  assert.deepEqual(map.keys, ["a", "b", "c"]);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => map.get(key)),
    [3, 5, 4, undefined],
  );
});
