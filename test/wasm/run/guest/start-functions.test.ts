import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rewriteModule } from "../../../../src/wasm/rewrite/binary/rewrite.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { extractState } from "../../../../src/wasm/rewrite/snapshot/extract.js";
import { emptySnapshot } from "../../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import type { InstanceSource } from "../../../../src/wasm/run/guest/call.js";
import { GuestLimitError, GuestStartError } from "../../../../src/wasm/run/guest/guest.js";
import { Places } from "../../../../src/wasm/run/guest/instance-pool.js";
import { callStart, newInstance } from "../../../../src/wasm/run/guest/start-functions.js";
import { ExitStatus } from "../../../../src/wasm/run/guest/wasi-preview1.js";
import { bytesOf } from "../../wat.js";

const throwing = (error: Error) => () => {
  throw error;
};

describe("start functions", () => {
  test("may be absent, and may return", () => {
    assert.equal(callStart({}, "_start"), false);
    assert.equal(callStart({ _start: () => 1 }, "_start"), false);
  });

  test("may exit with status 0 when they are a command's", () => {
    assert.equal(callStart({ _start: throwing(new ExitStatus(0)) }, "_start"), true);
    for (const [name, status] of [
      ["_start", 1],
      ["_initialize", 0],
      ["wapc_init", 0],
    ] as const)
      assert.throws(
        () => callStart({ [name]: throwing(new ExitStatus(status)) }, name),
        new GuestStartError(`the module ends in its function ${name}: exit status ${status}`),
      );
  });

  test("say where they trap, and leave limits as they are", () => {
    assert.throws(
      () => callStart({ _start: throwing(new Error("unreachable")) }, "_start"),
      new GuestStartError("the module ends in its function _start: unreachable"),
    );
    const limit = new GuestLimitError("too much");
    assert.throws(() => callStart({ _start: throwing(limit) }, "_start"), limit);
  });
});

describe("a start section", () => {
  const module = (body: string) =>
    new WebAssembly.Module(bytesOf(`(module (import "a" "exit" (func $exit)) (start $start) (func $start ${body}))`));

  test("that traps or exits, with whatever status, ends the module", () => {
    assert.throws(
      () => newInstance({ module: module("(unreachable)") }, { a: { exit() {} } }),
      new GuestStartError("the module ends in its start section: unreachable"),
    );
    assert.throws(
      () => newInstance({ module: module("(call $exit)") }, { a: { exit: throwing(new ExitStatus(0)) } }),
      new GuestStartError("the module ends in its start section: exit status 0"),
    );
  });

  test("is not blamed for what the engine refuses", () => {
    assert.throws(() => newInstance({ module: module("(nop)") }, { a: {} }), /^LinkError: WebAssembly\.Instance\(\)/);
  });
});

describe("an instance that has been asked", () => {
  const HOST = "policy-group-gateway:host";
  const shape = { initial: 1, maximum: 4 };
  const image = emptySnapshot(1);
  const source = (text: string): InstanceSource => {
    const { bytes } = rewriteModule(bytesOf(text), {
      maximumPages: 4,
      importMemoryAs: { module: HOST, name: "memory" },
    });
    const extracted = extractState(bytes, shape);
    return {
      module: new WebAssembly.Module(meterModule(extracted.bytes, undefined, extracted.own)),
      isResettable: extracted.coldBecause === undefined,
    };
  };
  /** A number that is imported, which the types of this project have no need of. */
  const AT = { at: 9 } as unknown as WebAssembly.ModuleImports;
  /** Makes or takes the instance in the place for a call, and gives the place back afterwards. */
  function calls(text: string) {
    const made = source(text);
    const places = new Places();
    const imports = new Map<number, WebAssembly.Imports>();
    return (run: (exports: Record<string, (...values: never[]) => unknown>) => unknown, which = 0) => {
      const place = places.take(1, shape, image);
      const own = imports.get(which) ?? { [HOST]: {}, a: AT };
      imports.set(which, own);
      Object.assign(own[HOST] ?? {}, { memory: place.memory, refill: () => 100_000 });
      const instance = newInstance(made, own, place);
      const result = run(instance.exports as never);
      places.give(place);
      return { instance, result };
    };
  }
  const COUNTER = `(module (memory 1)
    (global $count (mut i32) (i32.const 7)) (global $nan (mut f32) (f32.const nan:0x200001)) (global $wide (mut i64) (i64.const -1))
    (start $begin) (func $begin (global.set $count (i32.add (global.get $count) (i32.const 1))) (i32.store8 (i32.const 9) (i32.const 5)))
    (func (export "next") (result i32 i32 i64 i32)
      (global.get $count) (i32.reinterpret_f32 (global.get $nan)) (global.get $wide) (i32.load8_u (i32.const 9))
      (global.set $count (i32.add (global.get $count) (i32.const 1))) (global.set $nan (f32.const 1)) (global.set $wide (i64.const 3))
      (i32.store8 (i32.const 9) (i32.const 6))))`;
  const FRESH = [8, 0x7fa0_0001, -1n, 5];

  test("serves the next call as a new one would: globals and memory as they were, its start section run again", () => {
    const call = calls(COUNTER);
    const first = call((exports) => exports.next?.());
    const second = call((exports) => exports.next?.());
    assert.equal(second.instance, first.instance);
    assert.deepEqual([first.result, second.result], [FRESH, FRESH]);
  });

  test("does not serve a runner with other imports", () => {
    const call = calls(COUNTER);
    assert.notEqual(call((exports) => exports.next?.(), 1).instance, call((exports) => exports.next?.(), 2).instance);
  });

  const SIZES = `(module (memory 1)
    (func (export "size") (result i32) (memory.size)) (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
    (func (export "last") (result i32) (i32.load (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 4))))
    (func (export "write") (i32.store (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 4)) (i32.const 7))))`;
  for (const [what, text] of [
    ["an instance that is used again", SIZES],
    [
      "one that is made anew in the same memory",
      SIZES.replace("(memory 1)", "(memory 1) (global (mut v128) (v128.const i64x2 0 0))"),
    ],
    [
      "one that writes its data by itself",
      SIZES.replace("(memory 1)", '(import "a" "at" (global $at i32)) (memory 1) (data (global.get $at) "a")'),
    ],
  ] as const)
    test(`knows of no pages that a call before has added: ${what}`, () => {
      const call = calls(text);
      // What each call gets: its size, what growing tells, the size then, and what is in its last bytes.
      const all = (exports: Record<string, (...values: never[]) => unknown>) => {
        const { size, grow, last, write } = exports as Record<string, (pages?: number) => unknown>;
        const got = [
          size?.(),
          grow?.(0),
          grow?.(2),
          size?.(),
          last?.(),
          grow?.(2),
          grow?.(-1),
          size?.(),
          grow?.(1),
          size?.(),
          last?.(),
        ];
        write?.();
        return got;
      };
      const wanted = [1, 1, 1, 3, 0, -1, -1, 3, 3, 4, 0];
      for (let round = 0; round < 3; round++) assert.deepEqual(call(all).result, wanted);
    });

  test("is gone when its code may change what nobody can bring back", () => {
    const call = calls(`(module (memory 1) (table $t 1 funcref) (elem declare func $one)
      (func $one) (func (export "next") (result i32) (ref.is_null (table.get $t (i32.const 0))) (table.set $t (i32.const 0) (ref.func $one))))`);
    const first = call((exports) => exports.next?.());
    const second = call((exports) => exports.next?.());
    assert.notEqual(second.instance, first.instance);
    assert.deepEqual([first.result, second.result], [1, 1]);
  });
});
