import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./mutations.js";

test("random mutations are decided", () => {
  const { cases, allowed, faults } = run(Number.POSITIVE_INFINITY, 7, 500);
  assert.deepEqual(faults, []);
  assert.ok(allowed > cases / 10 && allowed < (cases * 9) / 10, `${allowed} of ${cases} are not refused`);
});
