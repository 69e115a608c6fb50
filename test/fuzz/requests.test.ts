import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./requests.js";

test("certification requests that are broken in every way are read or refused", () => {
  const { cases, sound, faults } = run(10, 7, 6_000);
  assert.deepEqual(faults, []);
  assert.ok(sound > cases / 10 && sound < (cases * 9) / 10, `${sound} of ${cases} are sound`);
});
