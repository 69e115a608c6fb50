/** The budget of a call on a thread, with a time that the test holds: when it ends the guest, and how long the guest rests. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { SLICE_UNITS } from "../../../../src/wasm/run/guest/budget.js";
import { ControlBlock } from "../../../../src/wasm/run/worker/control-block.js";
import { SharedShares, type Shares } from "../../../../src/wasm/run/worker/shares.js";
import { ThreadBudget } from "../../../../src/wasm/run/worker/thread-budget.js";

function held(t: TestContext, { early = 1, late = 1 }: Partial<Shares> = {}, deadline = 1_000, earlyMs = 20) {
  const control = ControlBlock.create();
  const shares = SharedShares.create();
  shares.publish({ early, late });
  let now = 0;
  const rests: number[] = [];
  t.mock.method(control, "sleep", (milliseconds: number) => {
    rests.push(milliseconds);
    now += milliseconds;
  });
  const budget = new ThreadBudget({ ticket: 1, deadline, earlyMs }, control, shares, () => now);
  /** The guest computes for so long, looking every tenth of a millisecond. */
  const compute = (milliseconds: number) => {
    let units = SLICE_UNITS;
    for (let looks = 0; looks < milliseconds * 10 && units > 0; looks++) {
      now += 0.1;
      units = budget.refill();
    }
    return units;
  };
  const rested = () => rests.reduce((sum, rest) => sum + rest, 0);
  return { budget, control, shares, rests, compute, rested, now: () => now, pass: (ms: number) => (now += ms) };
}

const near = (value: number, wanted: number) =>
  assert.ok(Math.abs(value - wanted) <= 0.1 * wanted, `${value} is not about ${wanted}`);

describe("the budget of a call on a thread", () => {
  test("ends the guest at its deadline, for good", (t) => {
    const { budget, compute, now } = held(t, {}, 30);
    assert.equal(compute(29.5), SLICE_UNITS);
    assert.equal(budget.isSpent, false);
    assert.equal(compute(5), 0);
    near(now(), 30);
    assert.equal(budget.isSpent, true);
    assert.equal(budget.refill(), 0);
  });

  test("an answer that comes behind the deadline is none, even if the guest never looked", (t) => {
    const { budget, pass } = held(t, {}, 30);
    pass(31);
    assert.equal(budget.isSpent, true);
  });

  test("ends the guest when nobody waits for its call, not when it was another one", (t) => {
    const { budget, control } = held(t);
    control.abort(2);
    assert.equal(budget.refill(), SLICE_UNITS);
    control.abort(1);
    assert.equal(budget.refill(), 0);
    assert.equal(budget.isSpent, true);
  });

  test("a short call never rests, and a long one not as long as there is a processor for it", (t) => {
    const short = held(t, { early: 0.1, late: 0.1 });
    short.compute(4.9);
    assert.deepEqual(short.rests, []);
    const long = held(t);
    long.compute(500);
    assert.equal(long.rested(), 0);
  });

  test("a long call keeps to its share: that of early calls first, then that of late ones", (t) => {
    const call = held(t, { early: 0.5, late: 0.05 }, 10_000, 20);
    call.compute(20);
    near(call.rested(), 15);
    const before = call.rested();
    call.compute(100);
    near(call.rested() - before, 1_900);
    near(call.budget.computedMs, 120);
    assert.ok(Math.max(...call.rests) <= 0.31 * 19, "in short stretches, so that nobody has to wait for long");
  });

  test("a share that changes holds from the next rest on", (t) => {
    const call = held(t, { early: 0.5 }, 10_000, 1_000);
    call.compute(10);
    const before = call.rested();
    call.shares.publish({ early: 1, late: 1 });
    call.compute(100);
    assert.equal(call.rested(), before);
  });

  test("a stretch without a look, as of a function being compiled, is not rested for in full", (t) => {
    const call = held(t, { early: 0.05 });
    call.pass(500);
    assert.equal(call.budget.refill(), SLICE_UNITS);
    assert.deepEqual(call.rests, [25]);
  });

  test("nobody rests or sleeps beyond the deadline", (t) => {
    const rests = held(t, { early: 0.01 }, 30, 1_000);
    rests.compute(30);
    near(rests.now(), 30);
    const sleeps = held(t, {}, 30);
    sleeps.budget.sleep(1_000);
    assert.equal(sleeps.now(), 30);
    sleeps.budget.sleep(1_000);
    assert.deepEqual(sleeps.rests, [30]);
    assert.equal(sleeps.budget.refill(), 0);
  });

  test("waiting is no computing", (t) => {
    const { budget, compute } = held(t);
    compute(2);
    budget.sleep(100);
    compute(2);
    near(budget.computedMs, 4);
  });
});
