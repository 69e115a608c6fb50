import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./differential.js";

test("an expression yields the same with and without cost, trace, check and folding", () => {
  const { expressions, differences } = run(3, 11);
  assert.deepEqual(differences, []);
  assert.ok(expressions > 100);
});
