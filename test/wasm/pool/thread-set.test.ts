/** The pool's threads by themselves: what an interruption leaves behind, and which threads are there for which calls meanwhile. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { DEFAULT_GUEST_LIMITS } from "../../../src/wasm/limits.js";
import { systemClock } from "../../../src/wasm/pool/clock.js";
import type { Job } from "../../../src/wasm/pool/job.js";
import { GuestThread, LOWEST_PRIORITY } from "../../../src/wasm/pool/thread.js";
import { ThreadSet } from "../../../src/wasm/pool/thread-set.js";
import { Mailbox } from "../../../src/wasm/worker/mailbox.js";
import { file } from "../support.js";

const CHAOS = new WebAssembly.Module(new Uint8Array(file("test/fixtures/chaos/wapc.wasm")));

function job(mode: string): Job {
  return {
    key: "p",
    module: { id: 1, module: CHAOS, mode: "kubewarden-wapc" },
    call: { operation: "validate", input: Buffer.from(JSON.stringify({ request: { mode }, settings: {} })) },
    limits: DEFAULT_GUEST_LIMITS,
    deadline: Number.POSITIVE_INFINITY,
    onHostCall: () => Promise.reject(new Error("not asked")),
    onLog: () => {},
  };
}

function ready(t: TestContext) {
  const set: ThreadSet = new ThreadSet(
    { idle: 1, idleLowPriority: 1, all: 8 },
    new Set(["kubewarden-wapc"]),
    systemClock,
    {
      available: () => {},
      signal: () => {},
      message: () => {},
      crashed: () => {},
      cannotStart: assert.fail,
    },
  );
  t.after(() => set.close());
  /** A thread that loops, whose jobs nobody looks after. */
  const looping = async (): Promise<GuestThread> => {
    while (!set.idleThread) {
      set.refill(1);
      await sleep(5);
    }
    const thread = set.idleThread;
    set.take(thread);
    thread.put({ job: job("loop"), settle: () => {}, isRerun: false, heard: 0 }, 0);
    while (!thread.control.isRunning || thread.control.phase !== "call") await sleep(5);
    return thread;
  };
  return { set, looping };
}

describe("the set of threads", () => {
  test("an interrupted thread does not look as if its guest still ran", async (t) => {
    const { set, looping } = ready(t);
    const thread = await looping();
    thread.jobs.length = 0;
    set.stop(thread, "kubewarden-wapc");
    const before = set.idleCount;
    while (set.idleCount === before) await sleep(5);
    // An interruption on its strength could strike the worker outside of a guest.
    assert.equal(thread.control.isRunning, false);
  });

  test("regular calls do not wait for threads of low priority that are being interrupted, and those of policies that time out repeatedly do", async (t) => {
    const { set, looping } = ready(t);
    const thread = await looping();
    thread.lowerPriority(LOWEST_PRIORITY);
    set.refill(1);
    while (set.idleCount < 2) await sleep(5);
    thread.jobs.length = 0;
    set.stop(thread, "kubewarden-wapc");
    assert.ok(!set.lowPriorityThread);
    assert.ok(set.idleThread);
    set.take(set.idleThread);
    assert.ok(set.idleThread);
    set.take(set.idleThread);
    const threads = set.threadCount;
    set.refill(1);
    assert.equal(set.threadCount, threads + 2);
  });
});

test("a thread takes back all calls or has begun the first", (t) => {
  const thread = new GuestThread([], { ready() {}, signal() {}, message() {}, ended() {} });
  t.after(() => thread.kill());
  for (let call = 0; call < 3; call++)
    thread.put({ job: job("accept"), settle: () => {}, isRerun: false, heard: 0 }, 0);
  // The worker takes whatever there is at the worst of times.
  const { withdraw } = Mailbox.prototype;
  let begun = 0;
  t.mock.method(Mailbox.prototype, "withdraw", function (this: Mailbox, ticket: number) {
    const back = withdraw.call(this, ticket);
    if (new Mailbox(this.buffer).take()) begun++;
    return back;
  });
  const { first } = thread.withdrawAll();
  assert.deepEqual({ first, begun, left: thread.jobs.length }, { first: false, begun: 1, left: 1 });
});

test("a process that may not start threads refuses calls and lives on", async () => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url));
  const script = `
    import { readFileSync } from "node:fs";
    import { createWasmRuntime } from ${url("../../../src/wasm/index.js")};
    import { HostCapabilities } from ${url("../../../src/host-capabilities/host.js")};
    const runtime = createWasmRuntime({ workers: 2, log() {}, capabilities: new HostCapabilities([], () => {}) });
    const bytes = readFileSync(new URL(${url("../../../../test/fixtures/chaos/wapc.wasm")}));
    for (let tries = 0; tries < 2; tries++)
      await runtime.load({ id: "p", bytes, settings: {} }).catch((error) => console.log(error.message));
    runtime.close();`;
  const flag = process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";
  const options = [flag, "--allow-fs-read=*", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, options, { timeout: 60_000 });
  assert.equal(stdout.match(/no worker thread starts: Access to this API has been restricted/g)?.length, 2, stdout);
});
