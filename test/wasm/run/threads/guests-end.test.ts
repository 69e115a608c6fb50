/** Guests that don't want to end, whatever they do, and the threads that go on behind them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "../../../../src/policy/outcome.js";
import type { Capability } from "../../../../src/wasm/host/host.js";
import { admission, behave, context, file, raw, testRuntime } from "../../support.js";
import { bytesOf } from "../../wat.js";

const PROTOCOLS = ["extism", "wapc", "wasi"] as const;
const TIMEOUT_MS = 300;
const echo: Capability = {
  namespace: "test",
  operations: { echo: { run: async (payload) => new Promise((resolve) => setTimeout(() => resolve(payload), 5)) } },
};
const NEVER_ALLOWED = /^(loop|oom|stack|trap|host-then-loop|large)/;

/** A WASI command with this as its loop; it answers to the check of its settings. */
const wasi = (loop: string) =>
  bytesOf(`(module
    (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 16)
    (data (i32.const 0) "\\20\\00\\00\\00\\0e\\00\\00\\00")
    (data (i32.const 32) "{\\22valid\\22:true}")
    (func (export "_start")
      (drop (call $sizes (i32.const 64) (i32.const 68)))
      ;; "policy.wasm validate" has 21 bytes, with "-settings" 30
      (if (i32.eq (i32.load (i32.const 68)) (i32.const 30))
        (then (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 72))) (return)))
      (loop $again ${loop} (br $again))))`);

/** A Rego module that calls builtin 1 again and again. */
const rego = (builtin: string) => {
  const table = `{\\22${builtin}\\22:1}\\00`;
  return bytesOf(`(module
    (import "env" "memory" (memory 4))
    (import "env" "opa_builtin2" (func $builtin (param i32 i32 i32 i32) (result i32)))
    (data (i32.const 0) "[]\\00")
    (data (i32.const 64) "${table}")
    (data (i32.const 128) "\\22%d %v\\22\\00")
    (global $heap (mut i32) (i32.const 65536))
    (func (export "opa_heap_ptr_get") (result i32) (global.get $heap))
    (func (export "opa_heap_ptr_set") (param i32))
    (func (export "opa_malloc") (param i32) (result i32) (i32.const 1024))
    (func (export "opa_json_parse") (param i32 i32) (result i32) (i32.const 128))
    (func (export "opa_json_dump") (param i32) (result i32) (local.get 0))
    (func (export "builtins") (result i32) (i32.const 64))
    (func (export "opa_eval_ctx_new") (result i32) (i32.const 0))
    (func (export "opa_eval_ctx_set_input") (param i32 i32))
    (func (export "opa_eval_ctx_set_data") (param i32 i32))
    (func (export "opa_eval_ctx_set_entrypoint") (param i32 i32))
    (func (export "eval") (param i32) (result i32)
      (loop $again
        (drop (call $builtin (i32.const 1) (i32.const 0) (i32.const 128) (i32.const 0)))
        (br $again))
      (i32.const 0))
    (func (export "opa_eval_ctx_get_result") (param i32) (result i32) (i32.const 0)))`);
};

const CLOCK = "(i32.store8 (i32.const 128) (i32.const 0)) (i64.store (i32.const 144) (i64.const 3600000000000))";
const SLEEP = `${CLOCK} (drop (call $poll (i32.const 120) (i32.const 256) (i32.const 1) (i32.const 300)))`;
const HOSTILE: readonly (readonly [string, Uint8Array, "wasi" | "opa"])[] = [
  ["loops", wasi(""), "wasi"],
  ["sleeps for an hour", wasi(SLEEP), "wasi"],
  ["catches what ends it", wasi("(try (do (loop $inner (br $inner))) (catch_all))"), "wasi"],
  ["catches what ends its sleep", wasi(`(try (do ${SLEEP}) (catch_all))`), "wasi"],
  ["fills its memory", wasi("(memory.fill (i32.const 1024) (i32.const 1) (i32.const 1000000))"), "wasi"],
  ["wants random bytes", wasi("(drop (call $random (i32.const 1024) (i32.const 1000000)))"), "wasi"],
  ["prints", wasi("(drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 72)))"), "wasi"],
  ["calls a builtin", rego("sprintf"), "opa"],
];

const isTimeOut = (outcome: Outcome) => outcome.verdict === "error" && outcome.cause === "timeout";

describe("a guest that does not want to end", () => {
  for (const protocol of PROTOCOLS)
    test(`${protocol}: its thread serves on, and the next instance is a new one`, async (t) => {
      const { runtime } = testRuntime({ workers: 1, capabilityList: [echo], warmStart: false });
      t.after(() => runtime.close());
      const bytes = file(`test/fixtures/chaos/${protocol}.wasm`);
      const policy = await runtime.load({
        id: "p",
        bytes,
        settings: {},
        hostCapabilities: ["*"],
        timeoutMs: TIMEOUT_MS,
      });
      for (const mode of ["loop", "host-then-loop:kubewarden:test:echo:1"]) {
        assert.ok(isTimeOut(await policy.evaluate(raw({ mode }), context())));
        assert.deepEqual(await behave(policy, "accept"), { verdict: "allow" });
      }
      const { threads, timeouts, crashes } = runtime.status();
      assert.deepEqual({ threads, timeouts, crashes }, { threads: 1, timeouts: 2, crashes: 0 });
    });

  for (const [what, bytes, executionMode] of HOSTILE)
    test(`${what}: ends in its time and leaves its thread to others`, async (t) => {
      const { runtime } = testRuntime({ workers: 1, warmStart: false });
      t.after(() => runtime.close());
      const load = (id: string, module: Uint8Array) =>
        runtime.load({ id, bytes: module, settings: {}, timeoutMs: TIMEOUT_MS });
      const honest = await load("honest", file("test/fixtures/chaos/wapc.wasm"));
      const hostile = await runtime.load({ id: "hostile", bytes, settings: {}, executionMode, timeoutMs: TIMEOUT_MS });
      const before = process.cpuUsage();
      assert.ok(isTimeOut(await hostile.evaluate(raw({}), context())));
      while (runtime.status().running > 0) await sleep(5);
      const { user, system } = process.cpuUsage(before);
      // Its own time and as much again for the engine's other threads; a guest that had gone on would have used seconds.
      assert.ok((user + system) / 1_000 < 3 * TIMEOUT_MS, `${user + system} µs`);
      assert.deepEqual(await behave(honest, "accept"), { verdict: "allow" });
      assert.deepEqual([runtime.status().threads, runtime.status().crashes], [1, 0]);
    });

  test("does no other call any harm, and is never allowed, whenever it ends", async (t) => {
    const { runtime } = testRuntime({ workers: 2, capabilityList: [echo], warmStart: false });
    t.after(() => runtime.close());
    const load = (protocol: string, timeoutMs: number) => {
      const bytes = file(`test/fixtures/chaos/${protocol}.wasm`);
      const id = `${protocol} ${timeoutMs}`;
      return runtime.load({ id, bytes, settings: {}, hostCapabilities: ["*"], timeoutMs });
    };
    const honest = await Promise.all(PROTOCOLS.map((protocol) => load(protocol, 30_000)));
    const hostile = await Promise.all(PROTOCOLS.flatMap((protocol) => [load(protocol, 100), load(protocol, 150)]));
    const modes = [
      ...["loop", "log-flood", "host-flood", "oom", "large", "stack", "trap"],
      "host-then-loop:kubewarden:test:echo:1",
    ];
    const until = performance.now() + 1_500;
    const goesOn = () => performance.now() < until || runtime.status().timeouts === 0;
    const attack = async (start: number) => {
      for (let call = start; goesOn(); call++) {
        const mode = modes[call % modes.length] ?? "loop";
        const gone = new AbortController();
        if (call % 5 === 0) setTimeout(() => gone.abort(), 7);
        const policy = hostile[(call * 5) % hostile.length];
        const outcome = await policy?.evaluate(raw({ mode }), { ...context(), signal: gone.signal });
        if (NEVER_ALLOWED.test(mode)) assert.equal(outcome?.verdict, "error", mode);
      }
    };
    const work = async (index: number) => {
      for (let call = 0; goesOn(); call++) {
        const policy = honest[(call + index) % honest.length];
        assert.deepEqual(await policy?.evaluate(admission({ spec: { call } }), context()), { verdict: "allow" });
        // What answers at once would leave no turn to the others.
        await new Promise(setImmediate);
      }
    };
    await Promise.all([attack(0), attack(1), attack(2), attack(3), work(0), work(1), work(2)]);
    assert.equal(runtime.status().crashes, 0);
  });
});
