import assert from "node:assert/strict";
import { test } from "node:test";
import { goodFaults, run } from "./broken-commands.js";

test("good command lines are green, and not when what they judge is not in order", async () =>
  assert.deepEqual(await goodFaults(), []));

test("of command lines of which a part is dropped, emptied or misspelt none that judged nothing is green", async () => {
  const { cases, green, faults } = await run(60_000, 47, 60);
  assert.deepEqual(faults, []);
  assert.ok(green > 0 && green < cases / 2, `${green} of ${cases} are green`);
});
