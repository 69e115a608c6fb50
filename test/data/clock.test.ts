import assert from "node:assert/strict";
import { test } from "node:test";
import { SYSTEM_CLOCK } from "../../src/data/clock.js";

test("what is to come after months does not come at once", (context) => {
  const waits: number[] = [];
  const timer = context.mock.method(globalThis, "setTimeout", (_: () => void, milliseconds: number) => {
    waits.push(milliseconds);
    return { unref: () => {} };
  });
  SYSTEM_CLOCK.after(90 * 86_400_000, () => {});
  SYSTEM_CLOCK.after(250, () => {});
  timer.mock.restore();
  assert.deepEqual(waits, [2 ** 31 - 1, 250]);
});
