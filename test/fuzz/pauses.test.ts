import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./pauses.js";

test("policies that are paused decide what they decide at once", async () => {
  const end = performance.now() + 3_000;
  const { cases, turns, differences } = await run(() => performance.now() < end, 3);
  assert.deepEqual(differences, []);
  assert.ok(turns > cases, `${turns} turns in ${cases} cases`);
});
