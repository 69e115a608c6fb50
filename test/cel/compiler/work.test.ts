import assert from "node:assert/strict";
import { test } from "node:test";
import { weighAll } from "../../../src/cel/compiler/work.js";
import type { Value } from "../../../src/cel/index.js";

test("a large map that is named many times is not weighed each time", () => {
  const map: Value = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]));
  let listed = 0;
  const keysOf = (value: object): readonly string[] => {
    listed++;
    return Object.keys(value);
  };
  const weight = weighAll(
    Array.from({ length: 5_000 }, () => map),
    { left: 0, keysOf },
  );
  // Three units of work each are more than lets the clock decide.
  assert.ok(weight * 3 >= 20_000_000, String(weight));
  assert.ok(listed < 200, String(listed));
});
