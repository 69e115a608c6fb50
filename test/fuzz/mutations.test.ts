import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./mutations.js";

test("random mutations are decided", () => {
  const { cases, allowed, faults } = run(10, 7, 1_000);
  assert.deepEqual(faults, []);
  assert.ok(allowed > cases / 10 && allowed < (cases * 9) / 10, `${allowed} of ${cases} are not refused`);
});
