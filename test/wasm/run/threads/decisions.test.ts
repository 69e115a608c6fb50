/** What the pool decides, with a clock and workers that the test holds: who begins when, where calls count, and when callers are answered. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import type { HostAnswer } from "../../../../src/wasm/run/guest/call.js";
import { checkKey } from "../../../../src/wasm/run/threads/history.js";
import type { Job, JobResult } from "../../../../src/wasm/run/threads/job.js";
import { WorkerPool } from "../../../../src/wasm/run/threads/pool.js";
import { ControlBlock } from "../../../../src/wasm/run/worker/control-block.js";
import type { CallMessage, CallReport, ToWorker } from "../../../../src/wasm/run/worker/messages.js";
import { SharedShares, type Shares } from "../../../../src/wasm/run/worker/shares.js";
import { file } from "../../support.js";

const MODULE = new WebAssembly.Module(new Uint8Array(file("test/fixtures/trivial/wapc.wasm")));
const DONE: JobResult = { kind: "answer", text: "done" };

/** What a worker was given. */
interface Begun {
  readonly worker: Worker;
  readonly message: CallMessage;
}

function held(t: TestContext, size: number) {
  // The workers are real, but get nothing of what is posted to them.
  const posted: { readonly worker: Worker; readonly message: ToWorker }[] = [];
  t.mock.method(Worker.prototype, "postMessage", function (this: Worker, message: ToWorker) {
    posted.push({ worker: this, message });
  });
  const shares: Shares[] = [];
  t.mock.method(SharedShares.prototype, "publish", (published: Shares) => shares.push(published));
  const aborted = t.mock.method(ControlBlock.prototype, "abort", () => {});
  const timers = new Set<() => void>();
  let now = 0;
  const after = (_: number, callback: () => void) => {
    timers.add(callback);
    return () => timers.delete(callback);
  };
  const clock = { now: () => now, after, afterward: () => () => {} };
  const pool = new WorkerPool(size, clock, { processors: 1, mainLoad: () => 1 });
  t.after(() => pool.close());

  /** Lets so much time pass, and the pool look every 5 ms. */
  const pass = (milliseconds: number) => {
    for (const end = now + milliseconds; now < end; ) {
      now = Math.min(end, now + 5);
      for (const callback of [...timers]) if (timers.delete(callback)) callback();
    }
  };
  /** Asks; the name of the call is its policy's name and more. */
  const run = (name: string, more: Partial<Job> = {}) => {
    const results: JobResult[] = [];
    void pool
      .run({
        key: name.charAt(0),
        module: { id: 1, module: MODULE, mode: "kubewarden-wapc" },
        call: { operation: "validate", input: Buffer.from(name) },
        limits: DEFAULT_GUEST_LIMITS,
        deadline: Number.POSITIVE_INFINITY,
        onHostCall: () => new Promise(() => {}),
        onLog: () => {},
        ...more,
      })
      .then((result) => results.push(result));
    return results;
  };
  const isBegun = (each: { worker: Worker; message: ToWorker }): each is Begun => each.message.type === "call";
  /** The calls that have begun, in their order. */
  const begun = () => posted.filter(isBegun).map(({ message }) => Buffer.from(message.call.input).toString());
  const find = (name: string): Begun => {
    const found = posted.filter(isBegun).find(({ message }) => Buffer.from(message.call.input).toString() === name);
    assert.ok(found, `${name} has not begun`);
    return found;
  };
  /** Waits until so many calls have begun: threads take a while to start. */
  const untilBegun = async (count: number) => {
    for (let tries = 0; begun().length < count; tries++) {
      assert.ok(tries < 2_000, `${begun()} have begun`);
      await sleep(5);
    }
  };
  type More = { [Type in CallReport["type"]]: Omit<Extract<CallReport, { type: Type }>, "ticket"> }[CallReport["type"]];
  /** The thread of this call reports. */
  const report = async (name: string, more: More) => {
    const { worker, message } = find(name);
    worker.emit("message", { ticket: message.ticket, ...more });
    await sleep(0);
  };
  const finish = (name: string, computedMs = 1) => report(name, { type: "result", result: DONE as never, computedMs });
  const endLate = (name: string) =>
    report(name, { type: "result", result: { kind: "ended", phase: "call", stderr: "" }, computedMs: 1 });
  const ask = (name: string) =>
    report(name, { type: "host-call", binding: "b", namespace: "n", operation: "o", payload: new Uint8Array() });
  const answered = () => posted.filter(({ message }) => message.type === "answer").length;
  return { pool, pass, run, begun, find, untilBegun, report, finish, endLate, ask, answered, aborted, shares };
}

describe("the pool", () => {
  test("begins as many calls as there are slots, of policies in turns", async (t) => {
    const { run, begun, untilBegun, finish } = held(t, 1);
    for (const name of ["a1", "a2", "a3", "b1", "c1"]) run(name);
    await untilBegun(1);
    for (const next of ["a1", "b1", "c1", "a2"]) {
      assert.equal(begun().at(-1), next);
      await finish(next);
    }
    assert.deepEqual(begun(), ["a1", "b1", "c1", "a2", "a3"]);
  });

  test("gives the slot of a call that takes 10 ms to another", async (t) => {
    const { run, begun, untilBegun, pass, shares } = held(t, 1);
    run("a1");
    run("b1");
    await untilBegun(1);
    pass(5);
    assert.deepEqual(begun(), ["a1"]);
    // Beside a busy main thread.
    assert.deepEqual(shares.at(-1), { early: 0.5, late: 0.05 });
    pass(5);
    await untilBegun(2);
    assert.deepEqual(begun(), ["a1", "b1"]);
    pass(10);
    // One of the two computes for half of the time.
    assert.deepEqual(shares.at(-1), { early: 1 - Math.SQRT1_2, late: 0.025 });
  });

  test("lets a policy have as many long calls as there are slots, and then wait for them", async (t) => {
    const { run, begun, untilBegun, pass, finish } = held(t, 1);
    for (const name of ["a1", "a2", "b1"]) run(name);
    await untilBegun(1);
    pass(10);
    await untilBegun(2);
    await finish("b1");
    pass(100);
    assert.deepEqual(begun(), ["a1", "b1"]);
    await finish("a1", 100);
    assert.deepEqual(begun(), ["a1", "b1", "a2"]);
  });

  test("keeps all slots free of a policy whose calls time out, and runs its calls beside them", async (t) => {
    const { run, begun, find, untilBegun, endLate, finish, shares } = held(t, 1);
    run("a1");
    await untilBegun(1);
    await endLate("a1");
    for (const name of ["a2", "a3", "b1", "b2"]) run(name);
    await untilBegun(3);
    assert.deepEqual(begun(), ["a1", "a2", "b1"]);
    assert.deepEqual([find("a1").message.earlyMs, find("a2").message.earlyMs], [50, 0]);
    assert.equal(shares.at(-1)?.late, 0.05);
    // One that ends well ends that.
    await finish("a2");
    assert.equal(begun().length, 3);
    await finish("b1");
    assert.deepEqual(begun().slice(3), ["a3"]);
    assert.equal(find("a3").message.earlyMs, 50);
  });

  test("lets a call go on for twice as long as its policy's longest before it gives way to all", async (t) => {
    const { run, find, untilBegun, finish } = held(t, 1);
    for (const [index, name] of ["a1", "a2"].entries()) {
      run(name);
      await untilBegun(index + 1);
      await finish(name, 400);
    }
    assert.deepEqual([find("a1").message.earlyMs, find("a2").message.earlyMs], [50, 800]);
  });

  test("does not take the taking of a state for a long call of its policy", async (t) => {
    const { run, untilBegun, finish, find } = held(t, 1);
    run("a1");
    await untilBegun(1);
    await finish("a1", 100);
    run("state", { key: checkKey("a"), isCheck: true, onState: () => {} });
    await untilBegun(2);
    await finish("state", 6_000);
    run("a2");
    await untilBegun(3);
    assert.deepEqual([find("state").message.earlyMs, find("a2").message.earlyMs], [4_000, 200]);
  });

  test("tells the thread when its call must end: after its own time, or when the caller stops waiting", async (t) => {
    const { run, find, untilBegun, finish } = held(t, 1);
    run("a1", { timeoutMs: 1_000, deadline: 60_000 });
    await untilBegun(1);
    await finish("a1");
    run("a2", { timeoutMs: 60_000, deadline: 1_000 });
    await untilBegun(2);
    const now = Number(process.hrtime.bigint()) / 1e6;
    for (const name of ["a1", "a2"]) {
      const left = find(name).message.deadline - now;
      // Of the shared clock's second, some has passed since.
      assert.ok(left <= 1_001 && left > -30_000, `${left} ms`);
    }
  });

  test("answers for a thread that is late by 15 ms, and leaves it alone until it reports", async (t) => {
    const { pool, run, begun, untilBegun, pass, finish } = held(t, 1);
    const results = run("a1", { timeoutMs: 100 });
    await untilBegun(1);
    pass(110);
    await sleep(0);
    assert.deepEqual(results, []);
    pass(5);
    await sleep(0);
    assert.deepEqual(results, [{ kind: "timeout", phase: "call", stderr: "" }]);
    assert.deepEqual([pool.status().running, pool.status().timeouts], [1, 1]);
    // The same policy waits for it; an answer behind the time-out changes nothing.
    run("a2");
    pass(50);
    assert.deepEqual(begun(), ["a1"]);
    await finish("a1");
    assert.deepEqual([results.length, pool.status().timeouts, pool.status().threads], [1, 1, 1]);
    assert.deepEqual(begun(), ["a1", "a2"]);
  });

  test("tells a guest that has run for 25 ms to end when nobody waits for it", async (t) => {
    const { pool, run, untilBegun, pass, aborted, endLate } = held(t, 1);
    const results = run("a1", { isAborted: () => true });
    // What has not begun is dropped.
    pass(5);
    await sleep(0);
    assert.deepEqual(results, [{ kind: "timeout", phase: "waiting", stderr: "" }]);
    let gone = false;
    const later = run("a2", { isAborted: () => gone });
    await untilBegun(1);
    gone = true;
    pass(20);
    assert.equal(aborted.mock.callCount(), 0);
    pass(5);
    await sleep(0);
    assert.equal(aborted.mock.callCount(), 1);
    assert.deepEqual(later, [{ kind: "refused", text: "the caller no longer waits for the answer" }]);
    assert.equal(pool.status().running, 1);
    await endLate("a2");
    assert.deepEqual([pool.status().running, pool.status().timeouts], [0, 1]);
  });

  test("a call that asks the host leaves its slot, and takes its answer when there is one again", async (t) => {
    const { run, begun, untilBegun, ask, answered, finish } = held(t, 1);
    let answer: (answer: HostAnswer) => void = () => {};
    run("a1", {
      onHostCall: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    await untilBegun(1);
    run("b1");
    assert.deepEqual(begun(), ["a1"]);
    await ask("a1");
    await untilBegun(2);
    answer({ ok: true, payload: new Uint8Array() });
    await sleep(0);
    assert.equal(answered(), 0);
    run("b2");
    await finish("b1");
    assert.equal(answered(), 1);
    // It has begun before b2 has.
    assert.deepEqual(begun(), ["a1", "b1"]);
    await finish("a1");
    assert.deepEqual(begun(), ["a1", "b1", "b2"]);
  });

  test("an answer that comes when its call is over goes nowhere", async (t) => {
    const { run, untilBegun, ask, answered, endLate } = held(t, 1);
    let answer: (answer: HostAnswer) => void = () => {};
    let signal: AbortSignal | undefined;
    run("a1", {
      onHostCall: (_, aborts) => {
        signal = aborts;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    });
    await untilBegun(1);
    await ask("a1");
    assert.equal(signal?.aborted, false);
    await endLate("a1");
    assert.equal(signal?.aborted, true);
    run("b1");
    await untilBegun(2);
    answer({ ok: true, payload: new Uint8Array() });
    await sleep(0);
    assert.equal(answered(), 0);
  });

  test("a thread that ends by itself fails its call, and the next one has another thread", async (t) => {
    const { pool, run, find, untilBegun } = held(t, 1);
    const results = run("a1");
    run("a2");
    await untilBegun(1);
    await find("a1").worker.terminate();
    await untilBegun(2);
    assert.deepEqual(results, [{ kind: "crash", text: "the worker thread ended", outOfMemory: false }]);
    assert.notEqual(find("a2").worker, find("a1").worker);
    assert.equal(pool.status().crashes, 1);
  });

  test("gives up what waits beyond its deadline, and refuses more than it can hold", async (t) => {
    const { pool, run, pass } = held(t, 1);
    const results = run("a1", { deadline: 20 });
    pass(15);
    await sleep(0);
    assert.deepEqual(results, []);
    pass(5);
    await sleep(0);
    assert.deepEqual(results, [{ kind: "timeout", phase: "waiting", stderr: "" }]);
    // One of them begins when a thread is ready.
    while (pool.status().waiting < 10_000) run("a2");
    const refused = run("a3");
    await sleep(0);
    assert.deepEqual(refused, [{ kind: "refused", text: "too many policy calls are waiting" }]);
  });
});
