/** The main thread's end of one worker thread: what it says of its end, what it lets the worker forget, and how long it keeps the process alive. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { PAGE_BYTES } from "../../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import type { ThreadEnd } from "../../../../src/wasm/run/threads/job.js";
import { GuestThread } from "../../../../src/wasm/run/threads/thread.js";
import type { ToWorker } from "../../../../src/wasm/run/worker/messages.js";
import { SharedShares } from "../../../../src/wasm/run/worker/shares.js";
import { file } from "../../support.js";

const events = { ready() {}, report() {}, ended() {} };
const shares = SharedShares.create();

for (const [code, outOfMemory] of [
  ["ERR_WORKER_OUT_OF_MEMORY", true],
  ["ERR_OTHER", false],
] as const)
  test(`a thread that ends with ${code} is ${outOfMemory ? "" : "not "}out of memory`, (t) => {
    const listeners = new Map<string, (value: unknown) => void>();
    t.mock.method(Worker.prototype, "on", function (this: Worker, event: string, listener: (value: unknown) => void) {
      listeners.set(event, listener);
      return this;
    });
    const ends: ThreadEnd[] = [];
    const thread = new GuestThread([], shares, { ...events, ended: (end) => ends.push(end) });
    listeners.get("error")?.(Object.assign(new Error("no memory, or so it says"), { code }));
    listeners.get("exit")?.(1);
    thread.end();
    // Whatever else it says may name files.
    const whole = "no memory, or so it says";
    const told = outOfMemory ? { text: whole, outOfMemory } : { text: "the worker thread failed", outOfMemory, whole };
    assert.deepEqual(ends, [told]);
  });

/** A thread, calls of modules that begin with so many bytes, and what it is sent. */
function watchedThread(t: TestContext) {
  const posted: ToWorker[] = [];
  t.mock.method(Worker.prototype, "postMessage", (message: ToWorker) => posted.push(message));
  const thread = new GuestThread([], shares, events);
  t.after(() => thread.end());
  const module = new WebAssembly.Module(new Uint8Array(file("test/fixtures/trivial/wapc.wasm")));
  const begin = (id: number, imageBytes = 0) => {
    const image = { pages: imageBytes / PAGE_BYTES, runs: [{ at: 0, bytes: new Uint8Array(imageBytes) }] };
    const job = {
      key: "p",
      module: { id, module, mode: "kubewarden-wapc" as const, image, marking: { shifts: [13] as const } },
      call: { operation: "validate" as const, input: Buffer.from("{}") },
      limits: DEFAULT_GUEST_LIMITS,
      deadline: Number.POSITIVE_INFINITY,
      onHostCall: () => Promise.reject(new Error("not asked")),
      onLog: () => {},
    };
    thread.begin(job, { deadline: 0, earlyMs: 0 });
  };
  return {
    thread,
    begin,
    markings: () => posted.flatMap((message) => (message.type === "module" ? [message.module.marking?.shifts] : [])),
    sent: () => posted.flatMap((message) => (message.type === "module" ? [message.module.id] : [])),
    forgotten: () => posted.flatMap((message) => (message.type === "forget" ? [message.moduleId] : [])),
  };
}

test("a thread is told how a module marks what it writes to", (t) => {
  const { begin, markings } = watchedThread(t);
  begin(1);
  assert.deepEqual(markings(), [[13]]);
});

test("a thread without a call forgets the modules that it was asked for least recently", (t) => {
  const { thread, begin, sent, forgotten } = watchedThread(t);
  for (let id = 1; id <= 258; id++) begin(id);
  begin(1);
  assert.equal(sent().length, 258);
  thread.rest();
  assert.deepEqual(forgotten(), [2, 3]);
});

test("a thread without a call forgets modules whose images are more than 128 MiB together, but never the last", (t) => {
  const { thread, begin, sent, forgotten } = watchedThread(t);
  const MIB = 1024 * 1024;
  for (const id of [1, 2, 3, 4]) begin(id, 32 * MIB);
  begin(1);
  thread.rest();
  assert.deepEqual(forgotten(), []);
  begin(5, MIB);
  thread.rest();
  assert.deepEqual(forgotten(), [2]);
  begin(2, 32 * MIB);
  thread.rest();
  assert.deepEqual(forgotten(), [2, 3]);
  begin(6, 129 * MIB);
  thread.rest();
  begin(6);
  thread.rest();
  assert.deepEqual(forgotten(), [2, 3, 4, 1, 5, 2]);
  assert.deepEqual(sent(), [1, 2, 3, 4, 5, 2, 6]);
});

test("threads keep the process alive while they run a call, and not after that", async () => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url));
  const script = `
    import { readFileSync } from "node:fs";
    import { createWasmRuntime } from ${url("../../../../src/wasm/index.js")};
    import { HostCapabilities } from ${url("../../../../src/wasm/host/host.js")};
    const options = { workers: 1, defaultTimeoutMs: null, log() {}, capabilities: new HostCapabilities([], () => {}) };
    const bytes = readFileSync(new URL(${url("../../../../../test/fixtures/trivial/wapc.wasm")}));
    const policy = await createWasmRuntime(options).load({ id: "p", bytes, settings: {} });
    console.log(policy.kind);
    const answered = process.uptime();
    process.on("exit", () => console.log(process.uptime() - answered < 5 ? "at once" : "later"));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    timeout: 60_000,
  });
  assert.equal(stdout, "wasm\nat once\n");
});
