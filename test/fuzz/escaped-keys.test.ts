import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./escaped-keys.js";

test("whoever reads a request whose keys are written with escapes answers as without", async () => {
  const { cases, faults } = await run(30_000, 7, 60);
  assert.deepEqual(faults, []);
  assert.ok(cases >= 20, `${cases} requests`);
});
