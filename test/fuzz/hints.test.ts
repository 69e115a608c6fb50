import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./hints.js";

test("no hint for a broken condition is constant or an error, and none has lost a negation", () => {
  const { hints, faults } = run(1_500, 52);
  assert.deepEqual(faults, []);
  assert.ok(hints > 400, `${hints} hints`);
});
