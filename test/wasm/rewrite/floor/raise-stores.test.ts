import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { raiseStores } from "../../../../src/wasm/rewrite/floor/raise-stores.js";
import { inlineCalls } from "../../../../src/wasm/rewrite/inline-functions/inline-calls.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";
import { GENEROUS } from "../inline-functions/generous.js";
import { randomStores } from "../meter/random-stores.js";
import { verifyMetered } from "../meter/verify.js";
import { compareRaised } from "./raised.js";

/** Modules of each run of the tests; `test/fuzz/metered-modules.ts` compares as many as one has time for. */
const RANDOM_MODULES = 40;
const FLOOR = 3 * 4_096;

/** Kept above {@link FLOOR}. */
function raised(text: string): WebAssembly.Instance {
  const bytes = raiseStores(bytesOf(text), FLOOR);
  assert.ok(bytes);
  return new WebAssembly.Instance(new WebAssembly.Module(bytes));
}

/** An instance that writes by this code with parameters `$at`, an address, and `$n`; and its memory. */
function writer(code: string) {
  const { exports } =
    raised(`(module (memory (export "memory") 2) (data $d "0123456789") (global $sp (mut i32) (i32.const 65536))
    (func $first (param i32 i32) (result i32) (local.get 0))
    (func (export "write") (param $at i32) (param $n i32) (local $f i32) (local $g i32) ${code}))`);
  const memory = exports.memory as WebAssembly.Memory;
  const write = exports.write as unknown as (at: number, n?: number) => void;
  return { write, bytes: new Uint8Array(memory.buffer) };
}

/** Ways to write something at `$at`, of so many bytes. */
const STORES: Readonly<Record<string, readonly [code: string, bytes: number]>> = {
  "i32.store": ["(i32.store (local.get $at) (i32.const -1))", 4],
  "i32.store8": ["(i32.store8 (local.get $at) (i32.const -1))", 1],
  "i32.store16": ["(i32.store16 (local.get $at) (i32.const -1))", 2],
  "i64.store": ["(i64.store (local.get $at) (i64.const -1))", 8],
  "i64.store8": ["(i64.store8 (local.get $at) (i64.const -1))", 1],
  "i64.store16": ["(i64.store16 (local.get $at) (i64.const -1))", 2],
  "i64.store32": ["(i64.store32 (local.get $at) (i64.const -1))", 4],
  "f32.store": ["(f32.store (local.get $at) (f32.reinterpret_i32 (i32.const -1)))", 4],
  "f64.store": ["(f64.store (local.get $at) (f64.reinterpret_i64 (i64.const -1)))", 8],
  "v128.store": ["(v128.store (local.get $at) (v128.const i64x2 -1 -1))", 16],
  "v128.store8_lane": ["(v128.store8_lane 3 (local.get $at) (v128.const i64x2 -1 -1))", 1],
  "v128.store64_lane": ["(v128.store64_lane 1 (local.get $at) (v128.const i64x2 -1 -1))", 8],
  "a store with an offset": ["(i32.store offset=40 (i32.sub (local.get $at) (i32.const 40)) (i32.const -1))", 4],
  "memory.fill": ["(memory.fill (local.get $at) (i32.const 255) (i32.const 9))", 9],
  "a store behind others": [
    "(i64.store (local.get $at) (i64.const -1)) (i32.store offset=8 (local.get $at) (i32.const -1)) (i32.store8 offset=12 (local.get $at) (i32.const -1))",
    13,
  ],
};

describe("code that is kept above a floor", () => {
  for (const [what, [code, size]] of Object.entries(STORES))
    test(`writes from the floor on, and traps below: ${what}`, () => {
      const { write, bytes } = writer(code);
      const from = what.includes("offset") ? FLOOR + 40 : FLOOR;
      for (const at of [from, from + 1, 100_000, bytes.length - size]) {
        bytes.fill(0);
        write(at);
        assert.deepEqual([...bytes.subarray(at, at + size)], new Array<number>(size).fill(255), `${at}`);
        assert.equal(bytes.filter((byte) => byte !== 0).length, size, `${at}`);
      }
      bytes.fill(0);
      for (const at of [FLOOR - 1, FLOOR - size - 60, 4_096, 100, bytes.length - size + 1, 2 ** 31, -1, -8, -FLOOR])
        assert.throws(() => write(at), WebAssembly.RuntimeError, `${at}`);
      assert.ok(bytes.subarray(0, FLOOR).every((byte) => byte === 0));
    });

  test("copies and takes from segments, from the floor on", () => {
    for (const code of [
      "(memory.copy (local.get $at) (i32.const 0) (local.get $n))",
      "(memory.init $d (local.get $at) (i32.const 0) (local.get $n))",
    ]) {
      const { write, bytes } = writer(code);
      bytes.fill(48, 0, 10);
      write(FLOOR, 5);
      assert.equal(bytes[FLOOR], 48, code);
      // Nothing is written.
      write(5, 0);
      assert.throws(() => write(FLOOR - 1, 1), WebAssembly.RuntimeError, code);
      assert.throws(() => write(0, 10), WebAssembly.RuntimeError, code);
    }
  });

  test("writes to an array whose place stands in the instruction, whatever is added to it", () => {
    const { write, bytes } = writer("(i32.store8 offset=20000 (local.get $at) (i32.const 7))");
    write(0);
    write(4);
    assert.equal(bytes[20_000], 7);
    assert.equal(bytes[20_004], 7);
  });

  const FRAME = "(local.set $f (i32.sub (global.get $sp) (i32.const 64)))";
  test("writes to its frame, and traps when that is below", () => {
    const { exports } =
      raised(`(module (memory (export "memory") 2) (global $sp (export "sp") (mut i32) (i32.const 65536))
      (func (export "write") (local $f i32) (local $g i32)
        (global.set $sp (local.tee $f (i32.sub (global.get $sp) (i32.const 64))))
        (i32.store offset=8 (local.get $f) (i32.const 7)) (loop (i64.store offset=16 (local.get $f) (i64.const -1)))))`);
    const { sp, memory } = exports as unknown as { sp: { value: number }; memory: WebAssembly.Memory };
    const write = exports.write as unknown as () => void;
    const bytes = new Uint8Array(memory.buffer);
    write();
    assert.equal(bytes[65_536 - 64 + 8], 7);
    for (const value of [FLOOR + 63, 64, 0, -1, -(2 ** 31)]) {
      sp.value = value;
      assert.throws(write, WebAssembly.RuntimeError, `${value}`);
    }
    sp.value = FLOOR + 64;
    write();
    assert.equal(bytes[FLOOR + 8], 7);
    assert.ok(bytes.subarray(0, FLOOR).every((byte) => byte === 0));
  });

  const NO_FRAMES: Readonly<Record<string, string>> = {
    "that is set again": `${FRAME} (i32.store (local.get $f) (i32.const 7)) (local.set $f (local.get $at)) (i32.store (local.get $f) (i32.const 7))`,
    "that is set again in a loop, behind the store": `${FRAME} (local.set $n (i32.const 2))
      (loop $l (i32.store (local.get $f) (i32.const 7)) (local.set $f (local.get $at)) (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))`,
    "that is set in a block": `(block $b (br_if $b (i32.eqz (local.get $n))) ${FRAME}) (i32.store (local.get $f) (i32.const 7))`,
    "of which an old value is on the stack": `(local.get $at) (local.set $at (i32.sub (global.get $sp) (i32.const 64))) (i32.const 7) (i32.store)`,
    "before it is set": `(i32.store (local.get $at) (i32.const 7)) (local.set $at (i32.sub (global.get $sp) (i32.const 64)))`,
    "of which half is another local": `${FRAME} (i32.store (select (local.get $at) (local.get $f) (i32.const 1)) (i32.const 7))`,
    "that is only a part of the address": `${FRAME} (i32.store (i32.add (local.get $f) (i32.sub (local.get $at) (local.get $f))) (i32.const 7))`,
    "that is the value, and not the address": `${FRAME} (i32.store (local.get $at) (local.get $f))`,
    "that a call has taken": `${FRAME} (i32.store (call $first (local.get $at) (local.get $f)) (i32.const 7))`,
    "that a block has": `${FRAME} (i32.store (block $b (result i32) (br $b (local.get $at)) (local.get $f)) (i32.const 7))`,
  };
  for (const [what, code] of Object.entries(NO_FRAMES))
    test(`takes no local for a frame's pointer ${what}`, () => {
      const { write, bytes } = writer(code);
      for (const at of [0, 100, FLOOR - 4]) assert.throws(() => write(at), WebAssembly.RuntimeError, `${at}`);
      assert.ok(bytes.subarray(0, FLOOR).every((byte) => byte === 0));
    });

  test("does what it does without a floor when it writes nothing below, whatever the module", () => {
    let calls = 0;
    let trapped = 0;
    for (let seed = 0; seed < RANDOM_MODULES; seed++) {
      const text = randomStores(seed, false);
      const rewrite =
        seed % 2 === 0 ? undefined : (bytes: Uint8Array<ArrayBuffer>) => inlineCalls(bytes, undefined, GENEROUS);
      const came = compareRaised(bytesOf(text), seed, seed % 3 === 0 ? 16_384 : 4_096, rewrite);
      assert.equal(came.kind, "equal", `${JSON.stringify(came)} ${text}`);
      calls += came.calls ?? 0;
      trapped += came.trapped ?? 0;
    }
    assert.ok(trapped > 0 && trapped < 0.9 * calls, `${trapped} of ${calls} calls trapped`);
  });

  test("is valid, and paid for, of real modules", () => {
    for (const path of ["test/vectors/rego/opa.wasm", "test/vectors/kubewarden/wasm/chaos-wapc.wasm"]) {
      const bytes = raiseStores(file(path) as Uint8Array<ArrayBuffer>, 983_040);
      assert.ok(bytes, path);
      const metered = meterModule(bytes);
      assert.equal(verifyMetered(metered), undefined, path);
      new WebAssembly.Module(metered);
    }
  });

  test("is not made of atomic stores, other memories and what is no module", () => {
    const module = (code: string): Uint8Array<ArrayBuffer> =>
      bytesOf(`(module (memory 1) (memory $other 1) (func (param $at i32) ${code}))`);
    for (const code of [
      "(i32.atomic.store (local.get $at) (i32.const 7))",
      "(drop (i32.atomic.rmw.add (local.get $at) (i32.const 7)))",
      "(drop (i32.atomic.rmw.cmpxchg (local.get $at) (i32.const 7) (i32.const 8)))",
      "(i32.store $other (local.get $at) (i32.const 7))",
      "(memory.fill $other (local.get $at) (i32.const 7) (i32.const 7))",
      "(memory.copy $other 0 (local.get $at) (i32.const 7) (i32.const 7))",
    ])
      assert.equal(raiseStores(module(code), FLOOR), undefined, code);
    assert.equal(raiseStores(new Uint8Array([0, 1, 2]), FLOOR), undefined);
    assert.equal(raiseStores(module("").slice(0, -4), FLOOR), undefined);
  });
});
