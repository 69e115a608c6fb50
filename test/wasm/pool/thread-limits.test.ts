/** The set of threads with a clock and an interrupter that the test holds: how many threads there are, and when one is given up. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionMode } from "../../../src/wasm/guest/call.js";
import { Interrupter } from "../../../src/wasm/pool/interrupter.js";
import { GuestThread } from "../../../src/wasm/pool/thread.js";
import { ThreadSet, type ThreadSetLimits } from "../../../src/wasm/pool/thread-set.js";
import { heldClock } from "./held-clock.js";

/** @param mode what threads load before they are ready; there is no code for "none", so that they fail */
async function opened(t: TestContext, limits: ThreadSetLimits, mode: ExecutionMode | "none" = "kubewarden-wapc") {
  const ends = new Map<number, () => void>();
  const forgotten: number[] = [];
  t.mock.method(Interrupter, "get", async () => ({
    interrupt: (thread: number, done: () => void) => ends.set(thread, done) !== undefined,
    forget: (thread: number) => forgotten.push(thread),
  }));
  const held = heldClock();
  let ready = 0;
  const reasons: string[] = [];
  const modes = new Set([mode as ExecutionMode]);
  const set = new ThreadSet(limits, modes, held.clock, {
    available: () => ready++,
    signal: () => {},
    message: () => {},
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
  /** A thread whose guest seems to run. */
  const busy = async (): Promise<GuestThread> => {
    set.refill(0);
    await started(1);
    const thread = set.idleThread;
    assert.ok(thread);
    set.take(thread);
    thread.control.begin();
    return thread;
  };
  // Threads wait for the interrupter.
  set.refill(0);
  assert.equal(set.threadCount, 0);
  await started(1);
  return { set, modes, ends, forgotten, reasons, until, started, busy, ...held };
}

describe("the number of threads", () => {
  test("is limited in all, with one to spare", async (t) => {
    const { set, started } = await opened(t, { idle: 5, idleLowPriority: 1, all: 2 });
    set.refill(5);
    assert.equal(set.threadCount, 3);
    await started(3);
    set.refill(5);
    assert.equal(set.threadCount, 3);
  });

  test("of idle ones is limited by priority, with one to spare; the others are ended", async (t) => {
    const { set, started } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 });
    set.refill(2);
    assert.equal(set.threadCount, 3);
    await started(3);
    assert.deepEqual([set.threadCount, set.idleCount], [2, 2]);
    for (let count = 0; count < 2; count++) {
      const thread = set.idleThread;
      assert.ok(thread);
      set.take(thread);
      thread.priority = 10;
      set.release(thread);
    }
    assert.deepEqual([set.threadCount, set.idleCount], [1, 1]);
  });

  test("is none when the set is closed: those that are starting are killed too", async (t) => {
    const { set, started } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 });
    set.refill(0);
    await started(1);
    set.refill(2);
    const kill = t.mock.method(GuestThread.prototype, "kill");
    set.close();
    assert.equal(kill.mock.callCount(), 3);
    assert.deepEqual([set.threadCount, set.idleCount], [0, 0]);
    set.refill(2);
    assert.equal(set.threadCount, 0);
  });

  test("does not grow for a while when one could not start, nor for ever when none can", async (t) => {
    const { set, tick, until, reasons } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 }, "none");
    for (const failures of [1, 2, 3]) {
      set.refill(0);
      assert.equal(set.threadCount, 1);
      await until(() => set.crashes === failures);
      assert.equal(set.threadCount, 0);
      set.refill(0);
      assert.equal(set.threadCount, 0);
      assert.equal(reasons.length, failures < 3 ? 0 : 1);
      tick(1_000);
    }
  });

  test("grows again after failed starts, of which those before a good one no longer count", async (t) => {
    const { set, modes, tick, until, started, reasons } = await opened(
      t,
      { idle: 1, idleLowPriority: 1, all: 8 },
      "none",
    );
    for (const failures of [1, 2, 3]) {
      if (failures === 3) {
        modes.clear();
        set.refill(0);
        await started(1);
        modes.add("none" as ExecutionMode);
      }
      set.refill(set.idleCount);
      await until(() => set.crashes === failures);
      tick(1_000);
      await started(0);
    }
    assert.deepEqual(reasons, []);
  });
});

describe("a thread whose guest must end", () => {
  test("is interrupted, and ready again when the worker says so", async (t) => {
    const { set, ends, timers, busy, started } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 });
    const thread = await busy();
    set.stop(thread, "kubewarden-wapc");
    assert.deepEqual([...timers.values()], [2_000]);
    assert.equal(set.idleCount, 0);
    ends.get(thread.id)?.();
    await started(1);
    assert.equal(set.idleThread, thread);
    assert.equal(timers.size, 0);
    assert.equal(set.recycled, 0);
  });

  test("is replaced when it does not come back in time, and left alone when it does after that", async (t) => {
    const { set, ends, forgotten, tick, busy, started } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 });
    const thread = await busy();
    const id = thread.id;
    const resumed = t.mock.method(GuestThread.prototype, "resume", () => {});
    set.stop(thread, "kubewarden-wapc");
    const before = set.threadCount;
    tick(2_000);
    await started(1);
    assert.deepEqual([set.threadCount, set.recycled, set.crashes], [before - 1, 1, 0]);
    assert.deepEqual(forgotten, [id]);
    ends.get(id)?.();
    assert.equal(resumed.mock.callCount(), 0);
  });

  test("has more time with a low priority", async (t) => {
    const { set, timers, busy } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 });
    const thread = await busy();
    thread.priority = 10;
    set.stop(thread, "kubewarden-wapc");
    assert.deepEqual([...timers.values()], [10_000]);
  });

  test("is not waited for when it has ended by itself", async (t) => {
    const { set, timers, busy, until } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 });
    const thread = await busy();
    set.stop(thread, "kubewarden-wapc");
    thread.kill();
    await until(() => set.crashes === 1);
    assert.equal(timers.size, 0);
    assert.equal(set.recycled, 1);
  });

  for (const [what, mode, isRunning] of [
    ["that runs a Rego module, whose host functions use libraries,", "opa", true],
    ["that runs a Gatekeeper module", "gatekeeper", true],
    ["in which no guest runs", "kubewarden-wapc", false],
  ] as const)
    test(`${what} is replaced at once`, async (t) => {
      const { set, ends, busy } = await opened(t, { idle: 1, idleLowPriority: 1, all: 8 });
      const thread = await busy();
      if (!isRunning) thread.control.end();
      set.stop(thread, mode);
      assert.deepEqual([set.recycled, ends.size], [1, 0]);
    });
});
