/** The set of threads with a clock that the test holds: how many threads there are. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionMode } from "../../../../src/wasm/run/guest/call.js";
import { GuestThread } from "../../../../src/wasm/run/threads/thread.js";
import { ThreadSet } from "../../../../src/wasm/run/threads/thread-set.js";
import { SharedShares } from "../../../../src/wasm/run/worker/shares.js";
import { heldClock } from "./held-clock.js";

/** @param mode what threads load before they are ready; there is no code for "none", so that they fail */
function opened(t: TestContext, mode: ExecutionMode | "none" = "kubewarden-wapc") {
  const held = heldClock();
  let ready = 0;
  const reasons: string[] = [];
  const modes = new Set([mode as ExecutionMode]);
  const set = new ThreadSet(modes, SharedShares.create(), held.clock, {
    available: () => ready++,
    report: () => {},
    crashed: () => {},
    cannotStart: (reason) => reasons.push(reason),
  });
  t.after(() => set.close());
  const until = async (holds: () => boolean) => {
    for (let tries = 0; !holds(); tries++) {
      assert.ok(tries < 4_000, "it never happens");
      await sleep(5);
    }
  };
  /** So many threads have started since the last time. */
  const started = async (count: number) => {
    await until(() => ready >= count);
    ready = 0;
  };
  return { set, modes, reasons, until, started, ...held };
}

const counts = (set: ThreadSet) => [set.threadCount, set.startingCount, set.idleCount];

describe("the number of threads", () => {
  test("grows by what is wanted, those counted that are starting", async (t) => {
    const { set, started } = opened(t);
    set.start(2);
    set.start(2);
    assert.deepEqual(counts(set), [2, 2, 0]);
    await started(2);
    assert.deepEqual(counts(set), [2, 0, 2]);
  });

  test("falls when threads have had no call for ten seconds; those that had one last are used first", async (t) => {
    const { set, started, tick, timers } = opened(t);
    set.start(3);
    await started(3);
    const used = set.idleThread;
    assert.ok(used);
    tick(9_000);
    set.take(used);
    set.release(used);
    tick(1_000);
    assert.deepEqual(counts(set), [1, 0, 1]);
    assert.equal(set.idleThread, used);
    assert.equal(timers.size, 1);
    tick(10_000);
    assert.deepEqual(counts(set), [0, 0, 0]);
    assert.equal(timers.size, 0);
    assert.equal(set.crashes, 0);
  });

  test("is none when the set is closed: those that are starting end too", async (t) => {
    const { set, started } = opened(t);
    set.start(1);
    await started(1);
    set.start(2);
    const end = t.mock.method(GuestThread.prototype, "end");
    set.close();
    assert.equal(end.mock.callCount(), 3);
    assert.deepEqual(counts(set), [0, 0, 0]);
    set.start(2);
    assert.equal(set.threadCount, 0);
  });

  test("does not grow for a while when one could not start, nor for ever when none can", async (t) => {
    const { set, tick, until, reasons } = opened(t, "none");
    for (const failures of [1, 2, 3]) {
      set.start(1);
      assert.equal(set.threadCount, 1);
      await until(() => set.crashes === failures);
      assert.equal(set.threadCount, 0);
      set.start(1);
      assert.equal(set.threadCount, 0);
      assert.equal(reasons.length, failures < 3 ? 0 : 1);
      tick(1_000);
    }
  });

  test("grows again after failed starts, of which those before a good one no longer count", async (t) => {
    const { set, modes, tick, until, started, reasons } = opened(t, "none");
    for (const failures of [1, 2, 3]) {
      if (failures === 3) {
        modes.clear();
        set.start(1);
        await started(1);
        modes.add("none" as ExecutionMode);
      }
      set.start(1);
      await until(() => set.crashes === failures);
      tick(1_000);
      await started(0);
    }
    assert.deepEqual(reasons, []);
  });
});
