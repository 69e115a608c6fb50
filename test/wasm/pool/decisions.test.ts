/** What the pool decides when, with real threads and a clock that the test holds. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_GUEST_LIMITS } from "../../../src/wasm/limits.js";
import type { Job, JobResult } from "../../../src/wasm/pool/job.js";
import { WorkerPool } from "../../../src/wasm/pool/pool.js";
import { GuestThread } from "../../../src/wasm/pool/thread.js";
import { ThreadSet } from "../../../src/wasm/pool/thread-set.js";
import { file } from "../support.js";
import { heldClock } from "./held-clock.js";

const CHAOS = new WebAssembly.Module(new Uint8Array(file("test/fixtures/chaos/wapc.wasm")));
const LOG_THEN_LOOP = "host-then-loop:kubewarden:tracing:log:line";
const ASK = 'host:kubewarden:net:x:"a"';

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 4_000, "it never happens");
    await sleep(5);
  }
}

/** A pool with one regular slot. */
function opened(t: TestContext) {
  const { clock, pass, tick } = heldClock();
  const puts: GuestThread[] = [];
  const { put, lowerPriority } = GuestThread.prototype;
  t.mock.method(GuestThread.prototype, "put", function (this: GuestThread, ...call: Parameters<GuestThread["put"]>) {
    puts.push(this);
    put.apply(this, call);
  });
  const priorities: number[] = [];
  t.mock.method(GuestThread.prototype, "lowerPriority", function (this: GuestThread, priority: number) {
    priorities.push(priority);
    lowerPriority.call(this, priority);
  });
  const pool = new WorkerPool(1, clock);
  t.after(() => pool.close());
  const run = (key: string, mode: string, more: Partial<Job> = {}) => {
    const call: { result?: JobResult } = {};
    void pool
      .run({
        key,
        module: { id: 1, module: CHAOS, mode: "kubewarden-wapc" },
        call: { operation: "validate", input: Buffer.from(JSON.stringify({ request: { mode }, settings: {} })) },
        limits: DEFAULT_GUEST_LIMITS,
        deadline: Number.POSITIVE_INFINITY,
        onHostCall: () => Promise.reject(new Error("not asked")),
        onLog: () => {},
        ...more,
      })
      .then((result) => {
        call.result = result;
      });
    return call;
  };
  /** A call whose guest loops already. */
  const looping = async (key: string, more: Partial<Job> = {}) => {
    const call = run(key, "loop", more);
    await until(() => inCall(puts.at(-1)));
    return call;
  };
  const settled = async (call: { result?: JobResult }) => {
    await until(() => call.result !== undefined);
    return call.result;
  };
  /** The policy has answered before, and the pool is at rest again. */
  const known = async (key: string) => {
    await settled(run(key, "accept"));
    puts.length = 0;
  };
  return { pool, run, known, looping, settled, pass, tick, puts, priorities };
}

const inCall = (thread: GuestThread | undefined): boolean =>
  thread?.control.isRunning === true && thread.control.phase === "call";

const turn = () => new Promise(setImmediate);

describe("a running call", () => {
  for (const [what, limits] of [
    ["its own limit", { timeoutMs: 100 }],
    ["its caller's deadline, when that is earlier,", { timeoutMs: 500, deadline: 100 }],
  ] as const)
    test(`ends at ${what} and not before`, async (t) => {
      const { pool, known, looping, settled, tick } = opened(t);
      await known("a");
      const call = await looping("a", limits);
      tick(99);
      assert.equal(pool.status().timeouts, 0);
      tick(5);
      assert.equal(pool.status().timeouts, 1);
      assert.deepEqual(await settled(call), { kind: "timeout", phase: "call", stderr: "" });
    });

  test("ends when its caller has gone, after it has had its time", async (t) => {
    const { pool, looping, settled, tick } = opened(t);
    const call = await looping("a", { isAborted: () => true });
    tick(24);
    assert.equal(pool.status().running, 1);
    tick(5);
    assert.equal(pool.status().running, 0);
    assert.equal((await settled(call))?.kind, "refused");
    assert.equal(pool.status().timeouts, 0);
  });

  test("is ended with its thread when that has begun the next call, which is run elsewhere", async (t) => {
    const { pool, known, looping, run, settled, tick, puts } = opened(t);
    for (const key of ["a", "b"]) await known(key);
    const call = await looping("a", { timeoutMs: 3 });
    const next = run("b", "accept");
    assert.equal(puts.length, 2);
    // As when the worker is faster.
    t.mock.method(GuestThread.prototype, "withdraw", () => []);
    tick(5);
    assert.equal(pool.status().recycled, 1);
    assert.equal((await settled(call))?.kind, "timeout");
    assert.equal((await settled(next))?.kind, "answer");
  });

  test("has its time from its own start, not from that of the call before it", async (t) => {
    const { pool, run, settled, pass, tick, puts } = opened(t);
    await settled(run("a", "accept"));
    const [before, call] = [run("a", "accept"), run("a", "loop", { timeoutMs: 50 })];
    assert.equal(puts.length, 3, "both are in one mailbox");
    pass(40);
    await settled(before);
    await until(() => inCall(puts.at(-1)));
    tick(20);
    assert.equal(pool.status().timeouts, 0);
    tick(30);
    assert.equal((await settled(call))?.kind, "timeout");
  });

  test("leaves its slot to others, and those behind it, when it is slow", async (t) => {
    const { pool, looping, run, settled, tick } = opened(t);
    await looping("a");
    const other = run("b", "accept");
    tick(5);
    await turn();
    assert.deepEqual([pool.status().waiting, other.result], [1, undefined]);
    tick(20);
    assert.equal((await settled(other))?.kind, "answer");
  });

  test("has no other put behind it once it takes long", async (t) => {
    const { known, looping, run, pass, puts } = opened(t);
    for (const key of ["a", "b", "c"]) await known(key);
    await looping("a");
    run("b", "accept");
    assert.equal(puts.length, 2);
    pass(5);
    run("c", "accept");
    assert.equal(puts.length, 2);
  });

  for (const [limit, half] of [
    [1_000, 500],
    [300, 250],
    [100_000, 2_000],
    [undefined, 2_000],
  ] as const)
    test(`of at most ${limit} ms gets a low priority after ${half} ms`, async (t) => {
      const { known, looping, tick, priorities } = opened(t);
      await known("a");
      await looping("a", limit === undefined ? {} : { timeoutMs: limit });
      tick(half - 1);
      assert.deepEqual(priorities, []);
      tick(5);
      assert.deepEqual(priorities, [10]);
    });

  test("of a policy that has timed out twice has the lowest priority from the start", async (t) => {
    const { pool, run, looping, settled, tick, priorities } = opened(t);
    for (let call = 0; call < 2; call++) {
      const looped = await looping("a", { timeoutMs: 10 });
      tick(10);
      await settled(looped);
      await until(() => pool.status().idle === pool.status().threads);
    }
    assert.deepEqual(priorities, []);
    assert.equal((await settled(run("b", "accept")))?.kind, "answer");
    assert.deepEqual(priorities, []);
    assert.equal((await settled(run("a", "accept")))?.kind, "answer");
    assert.deepEqual(priorities, [19]);
  });

  test("that its thread has not begun has waited, and its thread is kept", async (t) => {
    const { pool, run, settled, tick } = opened(t);
    const { put } = GuestThread.prototype;
    t.mock.method(GuestThread.prototype, "put", function (this: GuestThread, ...call: Parameters<GuestThread["put"]>) {
      put.apply(this, call);
      // Before the thread is woken, which takes a turn of the event loop.
      queueMicrotask(() => tick(10));
    });
    const call = run("a", "accept", { timeoutMs: 10 });
    assert.deepEqual(await settled(call), { kind: "timeout", phase: "waiting", stderr: "" });
    assert.equal(pool.status().recycled, 0);
  });
});

describe("a waiting call", () => {
  for (const [what, more] of [
    ["when its caller has gone", { isAborted: () => true }],
    ["at its caller's deadline", { deadline: 5 }],
  ] as const)
    test(`ends ${what}`, async (t) => {
      const { pool, looping, run, settled, tick } = opened(t);
      await looping("a");
      const call = run("b", "accept", more);
      tick(5);
      assert.deepEqual(await settled(call), { kind: "timeout", phase: "waiting", stderr: "" });
      assert.deepEqual([pool.status().timeouts, pool.status().waiting], [1, 0]);
    });

  test("is refused when ten thousand others wait", async (t) => {
    const { pool, run } = opened(t);
    for (let calls = 0; calls < 10_000; calls++) run(`${calls % 3}`, "accept");
    assert.equal(pool.status().waiting, 10_000);
    const refused = run("a", "accept");
    await turn();
    assert.deepEqual(refused.result, { kind: "refused", text: "too many policy calls are waiting" });
  });
});

describe("a call that asks the host", () => {
  const open = (t: TestContext, mode: string, more: Partial<Job> = {}) => {
    const pool = opened(t);
    let answer = () => {};
    let signal: AbortSignal | undefined;
    const call = pool.run("a", mode, {
      onHostCall: (_, killed) => {
        signal = killed;
        return new Promise((resolve) => {
          answer = () => resolve({ ok: true, payload: Buffer.from('"x"') });
        });
      },
      ...more,
    });
    return { ...pool, call, asked: () => signal !== undefined, signal: () => signal, answer: () => answer() };
  };

  test("does not ask when its caller has gone", async (t) => {
    const { call, asked, settled } = open(t, ASK, { isAborted: () => true });
    assert.equal((await settled(call))?.kind, "refused");
    assert.equal(asked(), false);
  });

  test("leaves its slot to others meanwhile, and has time again when it has its answer", async (t) => {
    let gone = false;
    const { pool, call, run, asked, answer, settled, tick, puts } = open(t, "host-then-loop:kubewarden:net:x:1", {
      isAborted: () => gone,
    });
    await until(asked);
    const [thread] = puts;
    assert.equal((await settled(run("b", "accept")))?.kind, "answer");
    tick(1_000);
    answer();
    await turn();
    gone = true;
    assert.equal(thread?.slot, "trial");
    tick(10);
    assert.equal(pool.status().running, 1);
    tick(20);
    assert.equal((await settled(call))?.kind, "refused");
  });

  test("ends at its limit, of which the host is told; a late answer goes to nobody", async (t) => {
    const { call, asked, signal, answer, settled, tick } = open(t, ASK, { timeoutMs: 100 });
    await until(asked);
    const answered = t.mock.method(GuestThread.prototype, "answer");
    tick(99);
    assert.equal(signal()?.aborted, false);
    tick(5);
    assert.equal(signal()?.aborted, true);
    assert.equal((await settled(call))?.kind, "timeout");
    answer();
    await turn();
    assert.equal(answered.mock.callCount(), 0);
  });
});

describe("calls of policies of which nothing is known", () => {
  test("are tried one at a time while others are answered, and those that take long run again at a low priority", async (t) => {
    const { pool, known, looping, run, settled, tick, puts, priorities } = opened(t);
    await known("good");
    const first = await looping("a", { timeoutMs: 1_000 });
    const second = run("b", "loop", { timeoutMs: 1_000 });
    assert.equal(puts.length, 1, "the thread that is left is for policies that answer");
    assert.equal((await settled(run("good", "accept")))?.kind, "answer");
    const looped = () => new Set(puts.filter((thread) => thread.priority > 0 && inCall(thread))).size;
    for (let ticks = 0; ticks < 100 && looped() < 2; ticks++) {
      tick(5);
      await sleep(10);
    }
    assert.deepEqual(priorities, [10, 10]);
    assert.deepEqual([first.result, second.result, pool.status().timeouts], [undefined, undefined, 0]);
    assert.equal((await settled(run("good", "accept")))?.kind, "answer");
    tick(1_000);
    for (const call of [first, second])
      assert.deepEqual(await settled(call), { kind: "timeout", phase: "call", stderr: "" });
    assert.equal(pool.status().recycled, 0, "no thread was killed for it");
  });

  test("run again also when they have logged, and each line is logged once", async (t) => {
    const { pool, run, settled, tick, puts } = opened(t);
    const lines: string[] = [];
    const call = run("a", LOG_THEN_LOOP, { timeoutMs: 1_000, onLog: ({ text }) => lines.push(text) });
    await until(() => lines.length === 1);
    const other = run("b", "accept");
    tick(25);
    assert.equal((await settled(other))?.kind, "answer");
    await until(() => puts.some(({ priority, jobs }) => priority === 10 && jobs[0]?.messages === 1));
    assert.deepEqual([lines, pool.status().timeouts], [["line"], 0]);
    tick(1_000);
    assert.equal((await settled(call))?.kind, "timeout");
  });

  test("that are broken off before their log lines have come log them when they run again", async (t) => {
    const { run, tick, puts } = opened(t);
    const { put } = GuestThread.prototype;
    t.mock.method(GuestThread.prototype, "put", function (this: GuestThread, ...call: Parameters<GuestThread["put"]>) {
      put.apply(this, call);
      if (puts.length > 1) return;
      // The thread is woken just before this, and no line can come in between.
      setImmediate(() => {
        for (const end = performance.now() + 5_000; !inCall(this) && performance.now() < end; );
        tick(25);
      });
    });
    const lines: string[] = [];
    run("a", LOG_THEN_LOOP, { onLog: ({ text }) => lines.push(text) });
    await until(() => puts.length === 2 && puts[1]?.jobs[0]?.messages === 1);
    assert.deepEqual(lines, ["line"]);
  });

  test("are not run again when they have asked the host", async (t) => {
    const { pool, run, settled, tick, puts } = opened(t);
    const call = run("a", "host-then-loop:kubewarden:net:x:1", {
      timeoutMs: 200,
      onHostCall: () => Promise.resolve({ ok: true, payload: Buffer.from('"x"') }),
    });
    await until(() => puts[0]?.jobs[0]?.messages === 1);
    run("b", "accept");
    for (let ticks = 0; ticks < 5; ticks++) {
      tick(25);
      await sleep(5);
    }
    assert.equal(puts.filter((thread) => thread === puts[0]).length, 1);
    tick(100);
    assert.equal((await settled(call))?.kind, "timeout");
    assert.equal(pool.status().timeouts, 1);
  });

  test("have their whole time when they run again", async (t) => {
    const { pool, looping, settled, tick, puts } = opened(t);
    const call = await looping("a", { timeoutMs: 100 });
    tick(25);
    await until(() => puts.length === 2 && inCall(puts.at(-1)));
    tick(95);
    assert.equal(pool.status().timeouts, 0);
    tick(5);
    assert.equal((await settled(call))?.kind, "timeout");
  });

  test("that wait for their turn to their deadline have waited", async (t) => {
    const { looping, run, settled, tick } = opened(t);
    await looping("a");
    const call = run("b", "accept", { deadline: 5 });
    tick(5);
    assert.deepEqual(await settled(call), { kind: "timeout", phase: "waiting", stderr: "" });
  });
});

describe("a call of a policy that has answered before", () => {
  test("runs on when it is slow, and is broken off after a while when others find no thread", async (t) => {
    const { pool, known, looping, run, settled, tick } = opened(t);
    for (const key of ["a", "b", "good"]) await known(key);
    await until(() => pool.status().idle === 2);
    // As on a busy machine, where a thread takes long to start.
    t.mock.method(ThreadSet.prototype, "refill", () => {});
    await looping("a");
    tick(25);
    await looping("b");
    tick(25);
    const other = run("good", "accept");
    tick(45);
    assert.deepEqual([pool.status().running, pool.status().waiting], [2, 1]);
    tick(5);
    assert.equal((await settled(other))?.kind, "answer");
    assert.deepEqual([pool.status().running, pool.status().waiting, pool.status().timeouts], [1, 1, 0]);
  });
});
