import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { ModuleStore, type PreparedModule } from "../../../../src/wasm/module/prepare.js";
import { type Budget, SLICE_UNITS } from "../../../../src/wasm/run/guest/budget.js";
import { CallHost } from "../../../../src/wasm/run/guest/call-host.js";
import { Moment } from "../../../../src/wasm/run/guest/moment.js";
import { GuestRunner } from "../../../../src/wasm/run/guest/run-call.js";
import type { FoundStart } from "../../../../src/wasm/run/snapshot/start-report.js";
import { takeState } from "../../../../src/wasm/run/snapshot/take-state.js";
import { ENDLESS, NO_SIDE } from "../../support.js";
import { bytesOf } from "../../wat.js";

const limits = DEFAULT_GUEST_LIMITS;
const NEUTRAL = ["first", "other", "more text than that"].map((text) => Buffer.from(`{"request":"${text}"}`));
/** Where the guests below put their question, and the answers that they give. */
const INPUT = 8_192;
const ALLOW = '{"accepted":true}';
const DENY = '{"accepted":false}';

/** Some 300,000 units of work. */
const WORK = `(local.set $i (i32.const 100000))
  (loop $l (br_if $l (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))`;
const answer = (text: string, at: number) => `(call $answer (i32.const ${at}) (i32.const ${text.length}))`;

/** A waPC guest: what it does at its start and in its call, before it allows; `$length` is its question's. */
function guest({ start = "", call = "", more = "", sections = "" }): Promise<PreparedModule> {
  const text = `(module
    (import "wapc" "__guest_request" (func $request (param i32 i32)))
    (import "wapc" "__guest_response" (func $answer (param i32 i32)))
    (import "wapc" "__console_log" (func $log (param i32 i32)))
    (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
    (memory (export "memory") 1) ${sections}
    (data (i32.const 100) ${JSON.stringify(ALLOW)}) (data (i32.const 200) ${JSON.stringify(DENY)})
    (global $g (mut i32) (i32.const 0)) ${more}
    (func (export "wapc_init") (local $i i32) ${start})
    (func (export "__guest_call") (param $operation i32) (param $length i32) (result i32) (local $i i32)
      (call $request (i32.const 4096) (i32.const ${INPUT}))
      ${call} ${answer(ALLOW, 100)} (i32.const 1)))`;
  // The text format escapes quotes with a backslash as JSON does.
  return new ModuleStore().prepare(bytesOf(text), 100, "kubewarden-wapc");
}

async function found(
  parts: Parameters<typeof guest>[0],
  budget: Budget = ENDLESS,
  longStartUnits = 0,
): Promise<FoundStart> {
  return takeState({ module: await guest(parts), limits, budget, neutral: NEUTRAL, longStartUnits });
}

/** What an instance answers, and the units that it uses. */
async function asked(module: PreparedModule, start: FoundStart, input = NEUTRAL[0] ?? Buffer.alloc(0)) {
  const runner = new GuestRunner();
  await runner.load(module.mode);
  let units = 0;
  const refill = () => {
    units += 1_000;
    return 1_000;
  };
  const host = new CallHost(NO_SIDE, limits, { isSpent: false, refill }, new Moment());
  return { result: runner.run({ ...module, ...start.taken }, { operation: "validate", input }, host), units };
}

describe("the state with which a policy's instances begin", () => {
  test("is that after the start functions, which do not run again", async () => {
    const parts = {
      start: `${WORK} (global.set $g (i32.const 7)) (i32.store (i32.const 5000) (i32.const 8))`,
      call: `(if (i32.ne (i32.add (global.get $g) (i32.load (i32.const 5000))) (i32.const 15)) (then (unreachable)))`,
    };
    const start = await found(parts);
    assert.deepEqual(start.report, { start: "started", because: "a call before would not make its calls shorter" });
    assert.ok(start.isExact);
    const module = await guest(parts);
    const warm = await asked(module, start);
    const cold = await asked(module, { report: { start: "cold" }, isExact: true });
    assert.deepEqual(warm.result, cold.result);
    assert.deepEqual(warm.result, { kind: "outcome", outcome: { verdict: "allow" } });
    assert.ok(warm.units * 10 < cold.units, `${warm.units} units beside ${cold.units}`);
  });

  test("is that after a neutral call, when it makes calls shorter and changes no answer", async () => {
    const parts = { call: `(if (i32.eqz (global.get $g)) (then ${WORK} (global.set $g (i32.const 1))))` };
    const start = await found(parts);
    assert.deepEqual(start.report, { start: "warm" });
    assert.equal(start.isExact, false);
    assert.ok((await asked(await guest(parts), start)).units <= 2_000);
  });

  const once = (body: string) => `(if (i32.eqz (global.get $g)) (then ${WORK} ${body}))`;
  const denyIf = (condition: string) => `(if ${condition} (then ${answer(DENY, 200)} (return (i32.const 1))))`;
  for (const [what, parts, report] of [
    [
      "a policy that remembers its first request",
      {
        call: `${once("(global.set $g (i32.load (i32.const 8204)))")}
          ${denyIf("(i32.ne (global.get $g) (i32.load (i32.const 8204)))")}`,
      },
      { start: "started", because: "its answers depend on calls before, or on chance" },
    ],
    [
      "a policy that counts its calls",
      {
        call: `${once("")} (global.set $g (i32.add (global.get $g) (i32.const 1)))
          ${denyIf("(i32.gt_u (global.get $g) (i32.const 1))")}`,
      },
      { start: "started", because: "its answers depend on calls before, or on chance" },
    ],
    [
      "a policy that keeps the time of day of its call",
      {
        call: `${once("(global.set $g (i32.const 1)) (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 16)))")}`,
      },
      { start: "started", because: "what it leaves depends on the time of day" },
    ],
    [
      "a policy that keeps the time of day of its start",
      { start: "(drop (call $clock (i32.const 0) (i64.const 0) (i32.const 16)))" },
      { start: "cold", because: "what it leaves depends on the time of day" },
    ],
    [
      "a policy whose answers depend on chance at its start",
      {
        start: "(drop (call $random (i32.const 16) (i32.const 8)))",
        call: denyIf("(i64.eqz (i64.rem_u (i64.load (i32.const 16)) (i64.const 2)))"),
      },
      { start: "cold", because: "its answers depend on calls before, or on chance" },
    ],
    [
      "a policy that logs in its first call only",
      { call: once("(global.set $g (i32.const 1)) (call $log (i32.const 100) (i32.const 5))") },
      { start: "started", because: "its answers depend on calls before, or on chance" },
    ],
    [
      "a policy that logs at its start",
      { start: "(call $log (i32.const 100) (i32.const 5))" },
      { start: "cold", because: "its start logs" },
    ],
    [
      "a policy that traps at its start",
      { start: "(unreachable)" },
      { start: "cold", because: "its start leaves something with the host, or does not end well" },
    ],
    [
      "a policy that can't answer",
      { call: "(unreachable)" },
      { start: "started", because: "it answers no neutral request" },
    ],
    ["a policy whose calls are short", {}, { start: "started", because: "its calls are short" }],
  ] as const) {
    test(`${what} begins ${report.start}`, async () => {
      // Chance may be the same a few times.
      let last: unknown;
      for (let left = what.includes("chance") ? 20 : 1; left > 0; left--) {
        last = (await found(parts)).report;
        if (what.includes("chance") && (last as { start: string }).start === "cold") break;
      }
      assert.deepEqual(last, report);
    });
  }

  const SHORT = { start: "(i32.store (i32.const 5000) (i32.const 8))" };
  test("after a start that is too short to be worth it is none", async () => {
    const start = await found(SHORT, ENDLESS, 1_000_000);
    assert.deepEqual(start.report, { start: "cold", because: "its start is short, and its calls are short" });
    assert.equal(start.taken, undefined);
    const chance = await found({ start: "(drop (call $random (i32.const 16) (i32.const 16)))" }, ENDLESS, 1_000_000);
    assert.deepEqual(chance.report, start.report);
  });

  test("after a short start and a call is found in fewer runs, and what the start leaves is in it", async () => {
    const call = `(if (i32.eqz (global.get $g)) (then ${WORK} (global.set $g (i32.load (i32.const 5000)))))
      (if (i32.ne (global.get $g) (i32.const 8)) (then (unreachable)))`;
    const counting = () => ({
      isSpent: false,
      units: 0,
      refill() {
        this.units += SLICE_UNITS;
        return SLICE_UNITS;
      },
    });
    const [long, short] = [counting(), counting()];
    assert.deepEqual((await found({ ...SHORT, call }, long)).report, { start: "warm" });
    const start = await found({ ...SHORT, call }, short, 1_000_000);
    assert.deepEqual(start.report, { start: "warm" });
    assert.ok(short.units < long.units, `${short.units} units beside ${long.units}`);
    const { result, units } = await asked(await guest({ ...SHORT, call }), start);
    assert.deepEqual(result, { kind: "outcome", outcome: { verdict: "allow" } });
    assert.ok(units <= 2_000);
  });

  test("may have the keys of hash maps in it, which then has to be proved", async () => {
    const start = await found({ start: "(drop (call $random (i32.const 16) (i32.const 16)))" });
    assert.equal(start.report.start, "started");
    assert.equal(start.isExact, false);
  });

  test("has the pages to which the memory has grown", async () => {
    const parts = {
      start: "(drop (memory.grow (i32.const 2))) (i32.store (i32.const 190000) (i32.const 5))",
      call: `(if (i32.ne (memory.size) (i32.const 3)) (then (unreachable)))
        (if (i32.ne (i32.load (i32.const 190000)) (i32.const 5)) (then (unreachable)))`,
    };
    const start = await found(parts);
    assert.equal(start.taken?.image.pages, 3);
    assert.equal((await asked(await guest(parts), start)).result.kind, "outcome");
  });

  test("is not taken when its time is up", async () => {
    let left = 3;
    const budget = {
      get isSpent() {
        return left <= 0;
      },
      refill: () => (left-- > 0 ? SLICE_UNITS : 0),
    };
    const { report } = await found({ start: "(loop $l (br $l))" }, budget);
    assert.deepEqual(report, { start: "cold", because: "its time was up before the state was taken" });
  });
});
