/** What our environment of Extism plugins adds to Extism's: limits, and that no call sees another's bytes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { GuestLimits } from "../../../../src/wasm/limits.js";
import { extismRunner } from "../../../../src/wasm/protocols/extism/guest.js";
import { GuestLimitError, GuestStartError } from "../../../../src/wasm/run/guest/guest.js";
import { assemble } from "./assemble.js";
import { recordingHost } from "./host.js";

const run = extismRunner();
const SECRET = "secret ".repeat(50);

/** Asks a plugin; the kernel is the one of the call before, if that went well. */
function ask(module: WebAssembly.Module, operation = "validate", input = "", limits: Partial<GuestLimits> = {}) {
  return run({ module }, { operation, input: new TextEncoder().encode(input) }, recordingHost(limits));
}

function text(module: WebAssembly.Module, operation?: string, input?: string): string {
  const answer = ask(module, operation, input);
  assert.ok(answer.kind === "answer", JSON.stringify(answer));
  return new TextDecoder().decode(answer.bytes);
}

/** `$number`, which puts out eight bytes. */
const NUMBER = `(func $number (param $value i64) (result i32) (local $block i64)
  (local.set $block (call $alloc (i64.const 8)))
  (call $store_u64 (local.get $block) (local.get $value))
  (call $output_set (local.get $block) (i64.const 8))
  (i32.const 0))`;

function number(module: WebAssembly.Module, operation?: string, input?: string, limits?: Partial<GuestLimits>): number {
  const answer = ask(module, operation, input, limits);
  assert.ok(answer.kind === "answer", JSON.stringify(answer));
  return Number(new DataView(answer.bytes.buffer, answer.bytes.byteOffset).getBigUint64(0, true));
}

describe("the blocks of an Extism plugin", () => {
  const greedy = assemble(`${NUMBER}
    (func (export "many") (result i32) (local $count i64)
      (loop $more
        (drop (call $alloc (i64.const 100)))
        (local.set $count (i64.add (local.get $count) (i64.const 1)))
        (br_if $more (i64.lt_u (local.get $count) (call $input_length))))
      (call $number (local.get $count)))
    (func (export "huge") (drop (call $alloc (i64.const 0x7ffffffffffffff8))))
    (func (export "endless") (drop (call $alloc (i64.const -1))))
    (func (export "large") (drop (call $alloc (i64.const 0x1800000))))
    (func (export "length") (result i32) (call $number (call $length (call $input_offset))))`);
  const refused = (operation: string, input = "", memoryPages = 1) =>
    assert.throws(() => ask(greedy, operation, input, { memoryPages }), {
      name: "GuestLimitError",
      message: `the policy allocated more than ${memoryPages * 65536} bytes from the host`,
    });

  test("take no more than the policy's memory may", () => {
    assert.equal(number(greedy, "many", "x".repeat(500), { memoryPages: 1 }), 500);
    refused("many", "x".repeat(700));
    refused("large", "", 383);
    refused("huge");
    refused("endless");
    refused("huge", "", 65536);
    refused("endless", "", 65536);
  });

  test("grow beyond what the kernel begins with", () => {
    assert.deepEqual(ask(greedy, "large", "", { memoryPages: 386 }), { kind: "answer", bytes: new Uint8Array() });
    assert.equal(number(greedy, "many", "x".repeat(100_000)), 100_000);
  });

  test("are none for what is empty, and the input is none then", () => {
    const empty = assemble(`${NUMBER}
      (func (export "block") (result i32) (call $number (call $alloc (i64.const 0))))
      (func (export "input") (result i32) (call $number (call $input_offset)))
      (func (export "error") (call $error_set (call $alloc (i64.const 0))))`);
    assert.equal(number(empty, "block"), 0);
    assert.equal(number(empty, "input"), 0);
    assert.notEqual(number(empty, "input", "q"), 0);
    assert.equal(text(empty, "error"), "");
  });

  test("are not charged for the input", () => {
    const input = "x".repeat(3 * 1024 * 1024);
    assert.equal(number(greedy, "length", input, { memoryPages: 1 }), input.length);
  });

  test("answer within the limit", () => {
    const long = assemble(
      `(func (export "validate") (call $output_set (call $alloc (i64.const 101)) (i64.const 101)))`,
    );
    assert.throws(
      () => ask(long, "validate", "", { outputBytes: 100 }),
      new GuestLimitError("the policy's answer is longer than 100 bytes"),
    );
  });

  test("can be broken by the plugin, but reach nothing else then", () => {
    const forger = assemble(`${NUMBER}
      (func $forged (param $length i64) (result i64) (local $block i64) (local $header i64)
        (drop (call $alloc (i64.const 8)))
        (local.set $block (call $alloc (i64.const 8)))
        (local.set $header (call $load_u64 (i64.sub (local.get $block) (i64.const 8))))
        (call $store_u64
          (i64.sub (local.get $block) (i64.const 8))
          (i64.or
            (local.get $length)
            (i64.shl
              (i64.xor (i64.shr_u (local.get $header) (i64.const 32)) (i64.xor (i64.const 8) (local.get $length)))
              (i64.const 32))))
        (drop (call $alloc (i64.const 24)))
        (local.get $block))
      (func (export "within") (result i32) (call $number (call $length (call $forged (i64.const 40)))))
      (func (export "beyond") (result i32) (call $number (call $length (call $forged (i64.const 41)))))
      (func (export "far") (result i32) (call $number (call $length (call $forged (i64.const 0xffffffff)))))
      (func (export "error") (call $error_set (call $forged (i64.const 41))))
      (func (export "zeroed") (result i32) (local $block i64)
        (drop (call $alloc (i64.const 8)))
        (local.set $block (call $alloc (i64.const 8)))
        (call $store_u64 (i64.sub (local.get $block) (i64.const 8)) (i64.const 0))
        (call $number (call $length (local.get $block))))`);
    assert.equal(number(forger, "within"), 40);
    assert.equal(number(forger, "beyond"), 0);
    assert.equal(number(forger, "far"), 0);
    assert.equal(number(forger, "zeroed"), 0);
    assert.throws(() => ask(forger, "error"), /^Error: the error is not a block/);
  });
});

describe("no Extism plugin sees what another call has left", () => {
  const spy = assemble(`${NUMBER}
    (func (export "validate") (result i32) (local $address i64) (local $seen i64)
      (local.set $address (i64.const 0))
      (drop (call $alloc (i64.const 0x180000)))
      (loop $next
        (if (i64.ne (call $load_u64 (local.get $address)) (i64.const 0))
          (then (local.set $seen (i64.add (local.get $seen) (i64.const 1)))))
        (local.set $address (i64.add (local.get $address) (i64.const 8)))
        (br_if $next (i64.lt_u (local.get $address) (i64.const 0x200000))))
      (call $number (local.get $seen)))`);
  const leaver = assemble(`
    (func $leave (local $block i64) (local $at i64)
      (local.set $block (call $alloc (i64.const 0x100000)))
      (loop $next
        (call $store_u64 (i64.add (local.get $block) (local.get $at)) (i64.const -1))
        (local.set $at (i64.add (local.get $at) (i64.const 8)))
        (br_if $next (i64.lt_u (local.get $at) (i64.const 0x100000))))
      (call $output_set (local.get $block) (i64.const 8)))
    (func (export "validate") (call $leave))
    (func (export "frees") (call $leave) (call $free (call $input_offset)))
    (func (export "error") (call $leave) (call $error_set (call $input_offset)))
    (func (export "trap") (call $leave) (unreachable))
    (func (export "exit") (call $leave) (call $proc_exit (i32.const 0)))
    (func (export "limit") (call $leave) (drop (call $alloc (i64.const -1))))`);
  // An empty input has no block: its own is the first one, whose header is out of its reach.
  const CLEAN = number(spy);

  test("to begin with", () => assert.equal(CLEAN, 0));

  for (const operation of ["validate", "frees", "error", "trap", "exit", "limit"])
    test(`after ${operation}`, () => {
      try {
        ask(leaver, operation, SECRET);
      } catch {
        // What has become of the call is not the question.
      }
      assert.equal(number(spy), CLEAN);
    });

  test("output, error and variables of a start function or of the call before are gone", () => {
    const early = assemble(`
      (func $put (call $output_set (call $alloc (i64.const 8)) (i64.const 8)) (call $error_set (call $alloc (i64.const 8))))
      (func (export "_initialize") (call $put))
      (func (export "validate"))`);
    assert.equal(text(early), "");
    assert.equal(text(leaver).length, 8);
    assert.equal(text(early), "");
  });

  test("the kernel is used again, but not after a trap or when it has grown large", () => {
    const memoryOf = (operation: string) => {
      const answer = ask(leaver, operation, SECRET);
      assert.ok(answer.kind === "answer");
      return answer.bytes.buffer;
    };
    const first = memoryOf("validate");
    assert.equal(memoryOf("validate"), first);
    assert.throws(() => ask(leaver, "trap", SECRET));
    const second = memoryOf("validate");
    assert.notEqual(second, first);
    assert.equal(text(assemble(`(func (export "validate") (drop (call $alloc (i64.const 0x800000))))`)), "");
    assert.notEqual(memoryOf("validate"), second);
  });
});

describe("the host capabilities of an Extism plugin", () => {
  const caller = assemble(`
    (func $word (param $letters i64) (result i64) (local $block i64)
      (local.set $block (call $alloc (i64.const 4)))
      (call $store_u64 (local.get $block) (local.get $letters))
      (local.get $block))
    (func $ask (param $operation i64) (param $payload i64) (local $answer i64)
      ;; "net " and the given ones.
      (local.set $answer (call $host_call (call $word (i64.const 0x2074656e)) (local.get $operation) (local.get $payload)))
      (call $output_set (local.get $answer) (call $length (local.get $answer))))
    (func (export "answer") (call $ask (call $word (i64.const 0x70756b6c)) (call $input_offset)))
    (func (export "fail") (call $ask (call $word (i64.const 0x6c696166)) (call $input_offset)))
    (func (export "nothing") (call $ask (i64.const 12345678) (i64.const 0)))`);

  test("answer in a block that begins with 1, or with 0 when they fail", () => {
    assert.equal(text(caller, "answer", "é"), "\x01kubewarden net  lkup é");
    assert.equal(text(caller, "fail", "what"), "\x00no: kubewarden net  fail what");
  });

  test("take what is no block as empty", () => assert.equal(text(caller, "nothing", "é"), "\x01kubewarden net   "));
});

describe("the start of an Extism plugin", () => {
  const tells = (name: string, letter: string) => `(func (export "${name}") (local $block i64)
    (local.set $block (call $alloc (i64.const 1)))
    (call $store_u8 (local.get $block) (i32.const ${letter.charCodeAt(0)}))
    (call $log_info (local.get $block)))`;
  const order = (...names: string[]): string => {
    const module = assemble(`${names.map((name) => tells(name, name.replaceAll("_", "")[0] ?? "")).join("\n")}
      ${tells("validate", "v")}`);
    const host = recordingHost();
    run({ module }, { operation: "validate", input: new Uint8Array() }, host);
    return host.lines.map(([, line]) => line).join("");
  };

  test("is what the module has, as in Extism's runtimes", () => {
    assert.equal(order(), "v");
    assert.equal(order("_initialize", "__wasm_call_ctors", "_start"), "iv");
    assert.equal(order("_start", "__wasm_call_ctors"), "sv");
    assert.equal(order("__wasm_call_ctors"), "wv");
    assert.equal(order("hs_init", "_start", "__wasm_call_ctors"), "hv");
    assert.equal(order("hs_init", "_initialize", "_start"), "ihv");
  });

  test("may end with exit status 0, and no other", () => {
    const exits = (start: number, call: number) =>
      assemble(`(func (export "_start") (call $proc_exit (i32.const ${start})))
        (func (export "validate") (call $proc_exit (i32.const ${call})))`);
    assert.deepEqual(ask(exits(0, 3)), { kind: "guest-error", text: "exit status 3" });
    assert.deepEqual(ask(exits(0, 0)), { kind: "guest-error", text: "exit status 0" });
    assert.throws(() => ask(exits(1, 0)), new GuestStartError("the module ends in its function _start: exit status 1"));
  });

  test("fails without the function that is asked for", () => {
    assert.throws(
      () => ask(assemble(`(func (export "other"))`)),
      new GuestStartError("the module does not export validate"),
    );
    assert.throws(() => ask(assemble(`(global (export "validate") i32 (i32.const 0))`)), GuestStartError);
  });

  test("fails when an import has another type, or is the kernel's own business", () => {
    for (const wrong of [
      `(import "extism:host/env" "alloc" (func (param i32) (result i32)))`,
      `(import "extism:host/env" "reset" (func (param i32)))`,
      `(import "extism:host/env" "input_set" (func (param i32) (result i32)))`,
    ])
      assert.throws(() => ask(assemble(wrong)), GuestStartError);
  });
});
