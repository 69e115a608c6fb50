import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleStore } from "../../../../src/wasm/module/prepare.js";
import { rewriteModule } from "../../../../src/wasm/rewrite/binary/rewrite.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { extractState } from "../../../../src/wasm/rewrite/snapshot/extract.js";
import { emptySnapshot, fill } from "../../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import { newInstance } from "../../../../src/wasm/run/guest/start-functions.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";

const HOST = "policy-group-gateway:host";
const GET = "policy-group-gateway:get-globals";
const SET = "policy-group-gateway:set-globals";

/** The module as it is prepared, with what an instance of it begins with. */
function prepared(text: string) {
  const { bytes, importedMemory } = rewriteModule(bytesOf(text), {
    maximumPages: 10,
    importMemoryAs: { module: HOST, name: "memory" },
  });
  const extracted = extractState(bytes, importedMemory);
  const module = new WebAssembly.Module(meterModule(extracted.bytes, undefined, extracted.own));
  return { ...extracted, module, pages: importedMemory?.initial ?? 0 };
}

/** A new instance, its memory and what it exports. */
function started({ module, image, pages }: ReturnType<typeof prepared>, imports: WebAssembly.Imports = {}) {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: 10 });
  fill(memory, image ?? emptySnapshot(pages));
  const own = { memory, refill: () => 100_000 };
  const { exports } = newInstance({ module }, { ...imports, [HOST]: own });
  return { memory: Buffer.from(memory.buffer), exports: exports as Record<string, (...values: unknown[]) => unknown> };
}

/** What the engine makes of the module as it was written. */
function asWritten(text: string) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytesOf(text)));
  return Buffer.from((exports.memory as WebAssembly.Memory).buffer);
}

describe("the initial state of a module's instances", () => {
  for (const [what, segments] of [
    ["no data", ""],
    ["data in one place", '(data (i32.const 70000) "some data")'],
    [
      "overlapping data, the later over the earlier",
      '(data (i32.const 4090) "aaaaaaaaaa") (data (i32.const 4094) "bb")',
    ],
    ["overlapping data, the later first in memory", '(data (i32.const 4094) "bbbb") (data (i32.const 4090) "aaaaaaa")'],
    ["data up to the last byte", '(data (i32.const 131070) "ab")'],
    ["zeros over data", '(data (i32.const 10) "abc") (data (i32.const 11) "\\00\\00")'],
    ["empty data at the end of memory", '(data (i32.const 131072) "")'],
  ] as const) {
    test(`${what}: the image is what the engine writes`, () => {
      const text = `(module (memory (export "memory") 2) ${segments})`;
      const module = prepared(text);
      assert.notEqual(module.image, undefined);
      assert.deepEqual(started(module).memory, asWritten(text));
    });
  }

  test("data outside of the memory is refused by the engine, as it was", () => {
    const module = prepared('(module (memory (export "memory") 2) (data (i32.const 131071) "ab"))');
    assert.throws(
      () => started(module),
      /^RuntimeError: WebAssembly\.Instance\(\): data segment (0 )?is out of bounds/,
    );
  });

  test("data at a place that a global says stays in the module, which then starts cold", () => {
    const module = prepared(
      '(module (import "a" "at" (global $at i32)) (memory (export "memory") 2) (data (global.get $at) "abc"))',
    );
    assert.equal(
      started(module, { a: { at: 9 } as unknown as WebAssembly.ModuleImports }).memory.toString("latin1", 8, 13),
      "\0abc\0",
    );
    assert.equal(module.image, undefined);
    assert.equal(module.coldBecause, "only its instance knows where its data segments go");
  });

  test("a passive segment keeps its number and its bytes, an active one is as empty as the engine leaves it", () => {
    const { exports, memory } = started(
      prepared(`(module (memory (export "memory") 2)
        (data $active (i32.const 0) "abc") (data $passive "defg")
        (func (export "passive") (memory.init $passive (i32.const 100) (i32.const 1) (i32.const 3)))
        (func (export "empty") (memory.init $active (i32.const 100) (i32.const 0) (i32.const 0)))
        (func (export "active") (memory.init $active (i32.const 100) (i32.const 0) (i32.const 1))))`),
    );
    exports.passive?.();
    assert.equal(memory.subarray(100, 103).toString(), "efg");
    exports.empty?.();
    assert.throws(() => exports.active?.(), WebAssembly.RuntimeError);
  });

  test("the start section runs when the host calls it, once, and finds its data", () => {
    const text = `(module (import "a" "log" (func $log (param i32))) (memory (export "memory") 2)
      (global $n (mut i32) (i32.const 1)) (data (i32.const 0) "a")
      (start $start) (func $start (call $log (i32.load8_u (i32.const 0))) (global.set $n (i32.const 7)))
      (func (export "n") (result i32) (global.get $n)))`;
    const logged: number[] = [];
    const { exports } = started(prepared(text), { a: { log: (value: number) => logged.push(value) } });
    assert.deepEqual(logged, ["a".charCodeAt(0)]);
    assert.equal(exports.n?.(), 7);
  });

  test("mutable globals are read and set to the bit, and constants are not among them", () => {
    const { exports } = started(
      prepared(`(module (memory (export "memory") 1) (global i32 (i32.const 5))
        (global $i (mut i32) (i32.const -1)) (global $l (mut i64) (i64.const 0x123456789abcdef0))
        (global $f (mut f32) (f32.const nan:0x200001)) (global $d (mut f64) (f64.const -0.5))
        (func (export "bits") (result i32) (i32.reinterpret_f32 (global.get $f)))
        (func (export "d") (result f64) (global.get $d)))`),
    );
    const read = () => [...((exports[GET]?.() ?? []) as (number | bigint)[])];
    // The last one is how many pages the memory has.
    assert.deepEqual(read(), [-1, 0x123456789abcdef0n, 0x7fa00001, -0x4020000000000000n, 1]);
    exports[SET]?.(3, 4n, 0x7fa00002, 0x3ff8000000000000n, 2);
    assert.equal(exports.bits?.(), 0x7fa00002);
    assert.equal(exports.d?.(), 1.5);
    assert.deepEqual(read(), [3, 4n, 0x7fa00002, 0x3ff8000000000000n, 2]);
  });

  for (const [body, because] of [
    ["(table.set $t (i32.const 0) (table.get $t (i32.const 1)))", "its code changes its tables"],
    ["(drop (table.grow $t (table.get $t (i32.const 1)) (i32.const 1)))", "its code changes its tables"],
    ["(table.fill $t (i32.const 0) (table.get $t (i32.const 1)) (i32.const 1))", "its code changes its tables"],
    ["(table.copy $t $t (i32.const 0) (i32.const 0) (i32.const 1))", "its code changes its tables"],
    ["(table.init $t $e (i32.const 0) (i32.const 0) (i32.const 1))", "its code changes its tables"],
    ["(elem.drop $e)", "its code changes its segments"],
    ["(data.drop $d)", "its code changes its segments"],
    ["(memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))", undefined],
    ["(global.set $v (v128.const i64x2 0 0))", "it has a mutable global that is not a number of at most 64 bits"],
  ] as const) {
    const v128 = body.includes("$v") ? "(global $v (mut v128) (v128.const i64x2 0 0))" : "";
    test(`of a module with ${body} ${because === undefined ? "can be taken" : "can't be taken"}`, () => {
      const module = prepared(`(module (memory (export "memory") 1) (table $t 4 funcref) (elem $e func $f) (data $d "a")
        ${v128} (func $f (export "f") ${body}))`);
      assert.equal(module.coldBecause, because);
    });
  }

  test("more globals than are worth setting start the module cold", () => {
    const globals = (count: number) => "(global (mut i32) (i32.const 0))".repeat(count);
    const of = (count: number) =>
      prepared(`(module (memory (export "memory") 1) ${globals(count)} (func (export "f")))`);
    assert.equal(of(64).coldBecause, undefined);
    assert.equal(of(65).coldBecause, "it has more than 64 mutable globals");
  });

  test("hidden exports are no exports of the module, and a module may not have such names", async () => {
    const module = await new ModuleStore().prepare(file("test/vectors/kubewarden/wasm/chaos-wapc.wasm"), 100);
    assert.deepEqual(
      [...module.exports].filter((name) => name.startsWith("policy")),
      [],
    );
    assert.ok(module.exports.has("__guest_call"));
    const taken = bytesOf(`(module (memory (export "memory") 1) (func (export "${SET}")) (func (export "validate")))`);
    await assert.rejects(new ModuleStore().prepare(taken, 100), { code: "wasm-exports" });
  });
});
