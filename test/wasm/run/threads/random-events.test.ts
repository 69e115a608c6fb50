/** The pool under random events: whatever happens, its books are right in the end and nobody gets another call's answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { ModuleStore } from "../../../../src/wasm/module/prepare.js";
import { systemClock } from "../../../../src/wasm/run/threads/clock.js";
import type { Job } from "../../../../src/wasm/run/threads/job.js";
import { WorkerPool } from "../../../../src/wasm/run/threads/pool.js";
import { Slots } from "../../../../src/wasm/run/threads/slots.js";
import type { PoolStatus } from "../../../../src/wasm/run/threads/status.js";
import { GuestThread } from "../../../../src/wasm/run/threads/thread.js";
import { until } from "../../../support/until.js";
import { file } from "../../support.js";

const HOSTILE = [
  ...["loop", "host-flood", "log-flood", "stack", "trap", "large", "oom", "host-then-loop:kubewarden:test:echo:1"],
  'host:kubewarden:test:echo:"a"',
  'host:kubewarden:test:never:"a"',
];
const NEVER_ANSWERED = /^(loop|stack|trap|oom|host-then-loop)/;

/** Random numbers below 1, the same each time. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

test("calls, time-outs, callers that go, dying threads and a busy main thread, at random", async (t) => {
  const random = generator(1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const store = new ModuleStore();
  const modules = await Promise.all(
    ["wapc", "wasi", "extism"].map((name) => store.prepare(file(`test/fixtures/chaos/${name}.wasm`), 512)),
  );
  // What goes in and out of the places, and the threads to be killed.
  const slots = new Map<string, number>();
  const count = (kind: string, change: number) => slots.set(kind, (slots.get(kind) ?? 0) + change);
  const { enter, leave } = Slots.prototype;
  t.mock.method(Slots.prototype, "enter", function (this: Slots, ...[kind, policy]: Parameters<Slots["enter"]>) {
    count(`${kind} ${policy}`, 1);
    enter.call(this, kind, policy);
  });
  t.mock.method(Slots.prototype, "leave", function (this: Slots, ...[kind, policy]: Parameters<Slots["leave"]>) {
    count(`${kind} ${policy}`, -1);
    leave.call(this, kind, policy);
  });
  const threads = new Set<GuestThread>();
  const { begin } = GuestThread.prototype;
  t.mock.method(GuestThread.prototype, "begin", function (this: GuestThread, ...call: Parameters<typeof begin>) {
    threads.add(this);
    begin.apply(this, call);
  });

  const pool = new WorkerPool(2, systemClock);
  t.after(() => pool.close());
  let calls = 0;
  const call = async () => {
    const hostile = random() < 0.4;
    // Some answers and some questions are long.
    const text = `unknown ${calls++} ${"é→".repeat(random() < 0.1 ? random() * 20_000 : 1)}`;
    const mode = hostile ? pick(HOSTILE) : text;
    const gone = random() < 0.15 ? performance.now() + random() * 30 : Number.POSITIVE_INFINITY;
    const job: Job = {
      key: `${hostile ? "hostile" : "honest"} ${Math.floor(random() * 3)}`,
      module: pick(modules),
      call: { operation: "validate", input: Buffer.from(JSON.stringify({ request: { mode }, settings: {} })) },
      limits: { ...DEFAULT_GUEST_LIMITS, memoryPages: 512 },
      timeoutMs: hostile ? pick([3, 6, 10, 30, 60]) : pick([2, 5_000, 5_000]),
      deadline: performance.now() + pick([20, 200, 2_000, 2_000]),
      isAborted: () => performance.now() > gone,
      onHostCall: async ({ operation }) => {
        await (operation === "never" ? new Promise(() => {}) : sleep(random() * 15));
        return { ok: true, payload: Buffer.from('"x"') };
      },
      onLog: () => {},
    };
    const result = await pool.run(job);
    if (result.kind !== "answer") return;
    assert.ok(!NEVER_ANSWERED.test(mode), `${mode} is answered with ${result.text}`);
    if (!hostile) assert.equal(JSON.parse(result.text).message, `unknown mode ${text}`);
  };
  const end = performance.now() + 2_500;
  const callers = Array.from({ length: 12 }, async () => {
    while (performance.now() < end) await (random() < 0.02 ? Promise.all(Array.from({ length: 40 }, call)) : call());
  });
  const disturbances = async () => {
    while (performance.now() < end) {
      await sleep(random() * 300);
      const thread = pick([...threads]);
      threads.delete(thread);
      thread?.end();
      const busy = performance.now() + random() * 50;
      while (performance.now() < busy);
    }
  };
  await Promise.all([disturbances(), ...callers]);

  // Guests whose callers have their answers come to their ends, and threads to the end of their start.
  const isBusy = ({ threads: all, idle }: PoolStatus) => all > idle;
  await until("rest", () => !isBusy(pool.status()));
  const { running, waiting, threads: all, idle } = pool.status();
  assert.deepEqual({ running, waiting, idle }, { running: 0, waiting: 0, idle: all });
  assert.ok(slots.size > 6);
  assert.deepEqual(
    [...slots].filter(([, threadsLeft]) => threadsLeft !== 0),
    [],
  );
});
