/** What a call on the main thread may take. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SLICE_UNITS } from "../../../../src/wasm/run/guest/budget.js";
import { INLINE_MS, INLINE_UNITS, Trial, UNPROVED_MS } from "../../../../src/wasm/run/main-thread/trial.js";

function begun() {
  let now = 1_000;
  const trial = new Trial(now, () => now, INLINE_MS, true);
  return { trial, pass: (milliseconds: number) => (now += milliseconds) };
}

const SPENT = { name: "BudgetSpent" };

describe("a call on the main thread", () => {
  test("has so much fuel and no more", () => {
    const { trial } = begun();
    let units = 0;
    for (let more = trial.refill(); more > 0; more = trial.refill()) units += more;
    assert.equal(units, INLINE_UNITS);
    assert.equal(trial.isSpent, true);
    assert.equal(trial.refill(), 0);
  });

  test("has so much time and no more, whatever fuel is left", () => {
    const { trial, pass } = begun();
    for (let i = 0; i < 4; i++) {
      assert.ok(trial.refill() > 0);
      pass(INLINE_MS / 4);
    }
    assert.equal(trial.refill(), 0);
    assert.equal(trial.isSpent, true);
  });

  test("is not over because the processor was elsewhere, once", () => {
    const { trial, pass } = begun();
    trial.refill();
    pass(90);
    assert.ok(trial.refill() > 0);
    pass(INLINE_MS - 0.1);
    assert.ok(trial.refill() > 0);
    pass(0.1);
    assert.equal(trial.refill(), 0);
  });

  test("is over when each stretch takes long: that is its own code", () => {
    const { trial, pass } = begun();
    trial.refill();
    pass(6);
    assert.ok(trial.refill() > 0);
    pass(6);
    assert.ok(trial.refill() > 0);
    pass(6);
    assert.equal(trial.refill(), 0);
  });

  test("has as much time as its policy may take", () => {
    let now = 0;
    const trial = new Trial(0, () => now, UNPROVED_MS);
    trial.refill();
    now = UNPROVED_MS - 0.1;
    assert.ok(trial.refill() > 0);
    now = UNPROVED_MS;
    assert.equal(trial.refill(), 0);
    // However long a stretch is: it may be one of those that never end.
    const stalled = new Trial(0, () => now, UNPROVED_MS);
    stalled.refill();
    now += 90;
    assert.equal(stalled.refill(), 0);
  });

  test("is looked at more rarely while it is quick, and as often as ever when it is not", () => {
    const { trial, pass } = begun();
    const quick = [1, 2, 3, 4, 5, 6].map(() => trial.refill() / SLICE_UNITS);
    assert.deepEqual(quick, [1, 2, 4, 8, 8, 8]);
    pass(0.06);
    assert.equal(trial.refill(), SLICE_UNITS);
  });

  test("is over when it asks the host or wants to sleep", () => {
    for (const wait of ["ask", "sleep"] as const) {
      const { trial } = begun();
      trial.refill();
      assert.throws(() => trial[wait](), SPENT);
      assert.equal(trial.isSpent, true);
      assert.equal(trial.refill(), 0);
    }
  });

  test("keeps its log lines", () => {
    const { trial } = begun();
    assert.deepEqual(trial.lines, []);
    const line = { level: "info", text: "a", source: "policy" } as const;
    trial.line(line);
    assert.deepEqual(trial.lines, [line]);
  });
});
