/** One call of a guest after the other, by one runner. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { ModuleStore } from "../../../../src/wasm/module/prepare.js";
import { CallHost } from "../../../../src/wasm/run/guest/call-host.js";
import { Moment } from "../../../../src/wasm/run/guest/moment.js";
import { GuestRunner } from "../../../../src/wasm/run/guest/run-call.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";

/** A waPC policy that accepts when neither its global nor its memory is any more than new, and counts in both; a question that begins with `x` traps then. */
const COUNTING = bytesOf(`(module
  (import "wapc" "__guest_request" (func $request (param i32 i32)))
  (import "wapc" "__guest_response" (func $response (param i32 i32)))
  (memory (export "memory") 1) (global $calls (mut i32) (i32.const 0))
  (data (i32.const 0) "{\\22accepted\\22:true}{\\22accepted\\22:false}")
  (func (export "__guest_call") (param i32 i32) (result i32) (local $seen i32)
    (local.set $seen (i32.add (global.get $calls) (i32.load (i32.const 4096))))
    (global.set $calls (i32.const 1)) (i32.store (i32.const 4096) (i32.const 1))
    (call $request (i32.const 512) (i32.const 1024))
    (if (i32.eq (i32.load8_u (i32.const 1024)) (i32.const 0x78)) (then (unreachable)))
    (if (local.get $seen) (then (call $response (i32.const 17) (i32.const 18))) (else (call $response (i32.const 0) (i32.const 17))))
    (i32.const 1)))`);

const SILENT = { ask: () => ({ ok: false, error: "nobody" }) as const, line() {}, sleep() {} };

async function runnerOf(bytes: Uint8Array) {
  const module = await new ModuleStore().prepare(bytes, 100);
  const runner = new GuestRunner();
  await runner.load(module.mode);
  const ask = (input: string) => {
    const host = new CallHost(SILENT, DEFAULT_GUEST_LIMITS, { isSpent: false, refill: () => 100_000 }, new Moment());
    return runner.run(module, { operation: "validate", input: Buffer.from(input) }, host);
  };
  return { module, ask };
}

describe("calls of one runner", () => {
  test("find nothing of the calls before, whether those answered or failed, and whether anybody tidied between", async () => {
    const { module, ask } = await runnerOf(COUNTING);
    assert.equal(module.isResettable, true);
    for (const input of ["{}", "{}", "x", "{}", "x", "x", "{}"])
      assert.equal(ask(input).kind, input === "x" ? "trap" : "outcome");
    assert.deepEqual(ask("{}"), { kind: "outcome", outcome: { verdict: "allow" } });
    assert.deepEqual(ask("{}"), { kind: "outcome", outcome: { verdict: "allow" } });
  });

  test("say how large the memory was of a guest that trapped", async () => {
    const trapped = (await runnerOf(COUNTING)).ask("x");
    assert.equal(trapped.kind === "trap" && trapped.memoryBytes, 65_536);
  });

  test("of Extism plugins go on when one that failed has taken the kernel with it", async () => {
    const { module, ask } = await runnerOf(file("test/fixtures/chaos/extism.wasm"));
    assert.equal(module.isResettable, true);
    const question = (mode: string) => JSON.stringify({ request: { mode }, settings: {} });
    const first = ask(question("accept"));
    assert.equal(first.kind, "outcome");
    for (const mode of ["trap", "accept", "accept", "trap", "accept"]) {
      const result = ask(question(mode));
      if (mode === "accept") assert.deepEqual(result, first);
      else assert.equal(result.kind, "trap");
    }
  });
});
