/** Guests on the main thread: they come to what they come to on threads, or to nothing. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Outcome } from "../../../../src/policy/outcome.js";
import type { Review } from "../../../../src/policy/review.js";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { ModuleStore, type PreparedModule } from "../../../../src/wasm/module/prepare.js";
import type { ExecutionMode, LogLine } from "../../../../src/wasm/run/guest/call.js";
import { Moment } from "../../../../src/wasm/run/guest/moment.js";
import { CallHistory } from "../../../../src/wasm/run/main-thread/history.js";
import { MainThreadCalls } from "../../../../src/wasm/run/main-thread/main-thread-calls.js";
import { systemClock } from "../../../../src/wasm/run/threads/clock.js";
import { WorkerPool } from "../../../../src/wasm/run/threads/pool.js";
import { protocolOf } from "../../../../src/wasm/runtime.js";
import { admission, context, file, raw, testRuntime } from "../../support.js";
import { bytesOf } from "../../wat.js";

const SETTINGS = { value: {}, bytes: Buffer.from("{}") };
const DATA = Buffer.from("{}");

/** What a call came to: its outcome, and the lines that it logged. */
interface Came {
  readonly outcome: Outcome | undefined;
  readonly lines: readonly LogLine[];
}

const store = new ModuleStore();
const pool = new WorkerPool(1, systemClock);
const inline = new MainThreadCalls(() => performance.now(), 2);
before(async () => {
  for (const mode of ["extism", "kubewarden-wapc", "wasi", "opa", "gatekeeper"] as const) await inline.load(mode);
});
after(() => pool.close());

const prepare = (bytes: Uint8Array, mode?: ExecutionMode) => store.prepare(bytes, 4_096, mode);

function callOf(module: PreparedModule, review: Review) {
  const call = protocolOf(module.mode).validateCall(review, SETTINGS, DATA);
  assert.ok(!("verdict" in call));
  return call;
}

/** Of a policy that has answered on the main thread before. */
function proved(): CallHistory {
  const history = new CallHistory(0);
  history.answered(0.1);
  return history;
}

function onMainThread(
  module: PreparedModule,
  review: Review,
  moment = new Moment(),
  { calls = inline, history = proved() } = {},
): Came {
  const lines: LogLine[] = [];
  const outcome = calls.try({
    module,
    call: callOf(module, review),
    limits: DEFAULT_GUEST_LIMITS,
    moment,
    history,
    onLog: (line) => lines.push(line),
  });
  return { outcome, lines };
}

async function onThread(module: PreparedModule, review: Review, moment = new Moment()): Promise<Came> {
  const lines: LogLine[] = [];
  const result = await pool.run({
    key: "p",
    module,
    call: callOf(module, review),
    limits: DEFAULT_GUEST_LIMITS,
    deadline: Number.POSITIVE_INFINITY,
    timeoutMs: 1_000,
    moment: moment.parts,
    onHostCall: async () => ({ ok: true, payload: Buffer.from("answer") }),
    onLog: ({ level, text, source }) => lines.push({ level, text, source }),
  });
  return { outcome: protocolOf(module.mode).outcome(result), lines };
}

const asked = (mode: string): Review =>
  admission({ apiVersion: "v1", kind: "Pod", metadata: { name: "p", annotations: { "chaos/mode": mode } } });

const CHAOS: readonly [path: string, mode?: ExecutionMode][] = [
  ["test/fixtures/chaos/extism.wasm"],
  ["test/fixtures/chaos/wapc.wasm"],
  ["test/fixtures/chaos/wasi.wasm"],
  ["test/vectors/kubewarden/wasm/chaos-wapc.wasm"],
  ["test/vectors/kubewarden/wasm/chaos-wasi.wasm"],
  ["test/vectors/rego/opa.wasm", "opa"],
  ["test/vectors/rego/gatekeeper.wasm", "gatekeeper"],
];
const ANSWERED = [
  "accept accept-warn accept-msg reject reject-code reject-bare reject-unicode mutate mutate-same unknown-field bad-code bad-accepted".split(
    " ",
  ),
  "camel-case not-json two-documents empty wrong-shape not-utf8 echo log log-flood host-event unknown".split(" "),
].flat();
/** What no guest may do for long, or at all, on the main thread. */
const MOVED_ON = ["trap", "loop", "stack", "oom", "large", "guest-error", "host-flood", "host:kubewarden:test:echo:1"];

describe("on the main thread", () => {
  for (const [path, mode] of CHAOS)
    test(`${path} answers as on a thread, to the letter and the log line, or not at all`, async () => {
      const module = await prepare(file(path), mode);
      // Code that the engine has not compiled yet takes longer than a call may.
      for (const warmUp of ["accept", "reject", "mutate"]) onMainThread(module, asked(warmUp));
      let answers = 0;
      for (const way of [...ANSWERED, ...MOVED_ON]) {
        const moment = new Moment();
        const here = onMainThread(module, asked(way), moment);
        if (here.outcome === undefined) {
          assert.deepEqual(here.lines, [], way);
          continue;
        }
        answers++;
        assert.deepEqual(here, await onThread(module, asked(way), moment), way);
      }
      assert.ok(answers >= 10, `${answers} answers`);
    });

  for (const [path, mode] of CHAOS.slice(0, 3))
    test(`${path} does not fail there: whatever is no answer begins again on a thread`, async () => {
      const module = await prepare(file(path), mode);
      for (const way of MOVED_ON) {
        const { outcome, lines } = onMainThread(module, asked(way));
        assert.deepEqual([outcome, lines], [undefined, []], way);
      }
    });

  test("raw questions are asked as such", async () => {
    const module = await prepare(file("test/fixtures/chaos/wapc.wasm"));
    const here = onMainThread(module, raw({ mode: "reject" }));
    assert.deepEqual(here, await onThread(module, raw({ mode: "reject" })));
    assert.equal(here.outcome?.verdict, "deny");
  });
});

const ACCEPTED = `(data (i32.const 0) "{\\22accepted\\22:true,\\22valid\\22:true}")`;
const IMPORTS = `
  (import "wapc" "__guest_request" (func $request (param i32 i32)))
  (import "wapc" "__guest_response" (func $response (param i32 i32)))
  (import "wapc" "__host_call" (func $host_call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wapc" "__console_log" (func $log (param i32 i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))`;
const ANSWER = "(call $response (i32.const 0) (i32.const 30)) (i32.const 1)";

/** A waPC policy that does this and then accepts; it accepts its settings at once. */
const policy = (does: string, more = "") =>
  bytesOf(`(module ${IMPORTS} (memory (export "memory") 2) (tag $t) ${ACCEPTED} ${more}
    (func (export "__guest_call") (param $operation i32) (param $payload i32) (result i32)
      (if (i32.eq (local.get $operation) (i32.const 8)) (then ${does}))
      ${ANSWER}))`);
const CATCHING = (does: string) => `(try (do ${does}) (catch_all))`;
const HOST_CALL = `(drop (call $host_call (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1)))`;

describe("a guest on the main thread", () => {
  const tried = async (does: string, more = "") => onMainThread(await prepare(policy(does, more)), admission({}));

  test("answers", async () => assert.deepEqual((await tried("")).outcome, { verdict: "allow" }));

  test("that asks the host has not answered, also when it swallows what it is thrown", async () => {
    assert.equal((await tried(HOST_CALL)).outcome, undefined);
    assert.equal((await tried(CATCHING(HOST_CALL))).outcome, undefined);
    const there = await onThread(await prepare(policy(CATCHING(HOST_CALL))), admission({}));
    assert.deepEqual(there.outcome, { verdict: "allow" });
  });

  test("that has passed a limit has failed, there and on a thread, also when it swallows what it is thrown", async () => {
    const answersTooMuch = CATCHING("(call $response (i32.const 0) (i32.const 0x7fffffff))");
    assert.equal((await tried(answersTooMuch)).outcome, undefined);
    const { outcome } = await onThread(await prepare(policy(answersTooMuch)), admission({}));
    assert.equal(outcome?.verdict === "error" && outcome.cause, "memory");
  });

  const endless: [what: string, does: string, more?: string][] = [
    ["loops", "(loop $l (br $l))"],
    ["loops around the clock", "(loop $l (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 512))) (br $l))"],
    ["loops around a log line", "(loop $l (call $log (i32.const 0) (i32.const 30)) (br $l))"],
    ["loops around its question", "(loop $l (call $request (i32.const 1024) (i32.const 2048)) (br $l))"],
    ["wants random bytes without end", "(loop $l (drop (call $random (i32.const 0) (i32.const 131072))) (br $l))"],
    ["swallows everything in a loop", `(loop $l ${CATCHING(HOST_CALL)} (br $l))`],
    ["recurses", "(call $deeper)", "(func $deeper (call $deeper) (call $deeper))"],
    [
      "takes all memory",
      "(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.shl (memory.size) (i32.const 16))) (br_if $l (i32.ne (memory.grow (i32.const 64)) (i32.const -1))))",
    ],
    [
      "sleeps",
      "(i64.store (i32.const 1048) (i64.const 60000000000)) (drop (call $poll (i32.const 1024) (i32.const 2048) (i32.const 1) (i32.const 512)))",
    ],
  ];
  for (const [what, does, more] of endless)
    test(`that ${what} is ended`, async () => {
      const module = await prepare(policy(does, more));
      const began = process.cpuUsage();
      for (let call = 0; call < 5; call++) assert.equal(onMainThread(module, admission({})).outcome, undefined);
      const { user, system } = process.cpuUsage(began);
      // Five calls within a time that one that is not ended would take alone.
      assert.ok(user + system < 1_000_000, `${user + system} microseconds`);
    });

  test("has less time until its policy has answered there, unless no other such call took long just before", async () => {
    let now = 0;
    const clock = () => {
      now += 0.1;
      return now;
    };
    const calls = new MainThreadCalls(clock, 2);
    await calls.load("kubewarden-wapc");
    const module = await prepare(policy("(loop $l (br $l))"));
    const taken = (history: CallHistory) => {
      const began = now;
      onMainThread(module, admission({}), new Moment(), { calls, history });
      return Math.round(now - began);
    };
    const unproved = () => new CallHistory(0);
    assert.deepEqual([taken(unproved()), taken(unproved()), taken(proved())], [30, 2, 10]);
    now += 101;
    assert.deepEqual([taken(unproved()), taken(unproved())], [30, 2]);
  });

  test("that waits by looking at the clock sees time pass", async () => {
    const now = "(drop (call $clock (i32.const 1) (i64.const 0) (i32.const 512)))";
    const waits = `${now} (i64.store (i32.const 520) (i64.add (i64.load (i32.const 512)) (i64.const 100000)))
      (loop $l ${now} (br_if $l (i64.lt_u (i64.load (i32.const 512)) (i64.load (i32.const 520)))))`;
    assert.deepEqual((await tried(waits)).outcome, { verdict: "allow" });
  });

  test("sees the same time and the same random bytes wherever it runs", async () => {
    // Answers with a text of 16 letters made of the low halves of eight random bytes and eight bytes of the clock.
    const letters = `(drop (call $clock (i32.const 0) (i64.const 0) (i32.const 512)))
      (drop (call $random (i32.const 520) (i32.const 8)))
      (loop $l
        (i32.store8 (i32.add (i32.const 300) (local.get $payload))
          (i32.add (i32.const 97) (i32.and (i32.const 15) (i32.load8_u (i32.add (i32.const 512) (local.get $payload))))))
        (local.set $payload (i32.add (local.get $payload) (i32.const 1)))
        (br_if $l (i32.lt_u (local.get $payload) (i32.const 16))))
      (call $response (i32.const 271) (i32.const 47))
      (return (i32.const 1))`;
    const module = await prepare(
      policy(
        `(local.set $payload (i32.const 0)) ${letters}`,
        `(data (i32.const 271) "{\\22accepted\\22:false,\\22message\\22:\\22") (data (i32.const 316) "\\22}")`,
      ),
    );
    const moment = new Moment();
    const { outcome } = onMainThread(module, admission({}), moment);
    assert.equal(outcome?.verdict, "deny");
    assert.deepEqual((await onThread(module, admission({}), moment)).outcome, outcome);
    assert.notDeepEqual(onMainThread(module, admission({})).outcome, outcome);
  });
});

describe("a policy", () => {
  const { runtime, logged } = testRuntime({ workers: 1 });
  after(() => runtime.close());
  const load = (does: string, timeoutMs = 200) =>
    runtime.load({ id: "p", bytes: policy(does), settings: {}, timeoutMs });

  test("that answers on the main thread answers at once", async () => {
    const small = await load("");
    assert.equal(small.immediate, true);
    assert.deepEqual(small.evaluate(admission({}), context()), { verdict: "allow" });
  });

  test("that does not is asked on threads after the second time, and its log lines are there once", async () => {
    const before = runtime.status().inline.movedOn;
    const looping = await load("(call $log (i32.const 0) (i32.const 30)) (loop $l (br $l))", 1_000);
    logged.length = 0;
    for (let call = 1; call <= 4; call++) {
      const outcome = await looping.evaluate(admission({}), context());
      assert.equal(outcome.verdict === "error" && outcome.cause, "timeout");
      assert.equal(logged.length, call);
      assert.equal(looping.immediate, call < 2);
    }
    assert.equal(runtime.status().inline.movedOn - before, 2);
  });

  test("that asks the host is asked on threads, and its failures there are its outcome", async () => {
    const asking = await load(HOST_CALL);
    for (let call = 0; call < 40; call++)
      assert.deepEqual(await asking.evaluate(admission({}), context()), { verdict: "allow" });
    assert.equal(asking.immediate, false);
  });

  test("that is asked about much is asked on a thread", async () => {
    const small = await load("");
    const outcome = small.evaluate(admission({ text: "x".repeat(300_000) }), context());
    assert.ok(outcome instanceof Promise);
    assert.deepEqual(await outcome, { verdict: "allow" });
    assert.equal(small.immediate, true);
  });
});

describe("what is asked once", () => {
  test("small modules check their settings, and give their state, without a thread", async (t) => {
    const { runtime } = testRuntime();
    t.after(() => runtime.close());
    const policy = await runtime.load({ id: "p", bytes: file("test/fixtures/trivial/wapc.wasm"), settings: {} });
    for (let call = 0; call < 2; call++) await policy.evaluate(raw({}), context());
    while (/not been asked/.test(policy.start.because ?? "")) await new Promise((resolve) => setTimeout(resolve, 5));
    const { threads, inline: counts } = runtime.status();
    assert.deepEqual({ threads, answered: counts.answered }, { threads: 0, answered: 2 });
  });

  for (const [mode, refusal, threads] of [
    ["bad-settings", /Policy settings are invalid: mode bad-settings is not valid/, 0],
    ["settings-rubbish", /Policy settings are invalid/, 0],
    ["settings-trap", /unreachable/, 1],
  ] as const) {
    test(`settings are refused: ${mode}`, async (t) => {
      const { runtime } = testRuntime();
      t.after(() => runtime.close());
      const bytes = file("test/fixtures/chaos/wapc.wasm");
      await assert.rejects(runtime.load({ id: "p", bytes, settings: { mode } }), refusal);
      // What is no answer is asked again, on a thread.
      assert.equal(runtime.status().threads, threads);
    });
  }
});
