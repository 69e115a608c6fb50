import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleStore } from "../../../../src/wasm/module/prepare.js";
import { floorFor } from "../../../../src/wasm/rewrite/floor/floor.js";
import { imageOf } from "../../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import { admission, context, file, testRuntime } from "../../support.js";
import { bytesOf } from "../../wat.js";

const KIB = 1_024;
const MIB = KIB * KIB;

/** Of a module with these globals, whose data begins there. */
function floorOf(globals: string, data?: number): number | undefined {
  const writes = data === undefined ? [] : [{ at: data, bytes: Buffer.from("data") }];
  return floorFor(bytesOf(`(module (memory 40) ${globals})`), imageOf(40, writes));
}

describe("a module's floor", () => {
  const STACK = `(global $sp (mut i32) (i32.const ${MIB}))`;
  test("lies 64 KiB below its stack's beginning", () => {
    assert.equal(floorOf(STACK, MIB), MIB - 64 * KIB);
    assert.equal(floorOf(STACK), MIB - 64 * KIB);
    assert.equal(
      floorOf(`(global (mut i64) (i64.const 5)) (global (mut f64) (f64.const 5)) ${STACK}`, MIB),
      MIB - 64 * KIB,
    );
  });

  test("is a multiple of 4 KiB", () => {
    assert.equal(floorOf(`(global (mut i32) (i32.const ${MIB + 100}))`, MIB + 100), MIB - 64 * KIB);
  });

  test("is that of the largest global that data lies above, or at", () => {
    assert.equal(
      floorOf(`${STACK} (global (mut i32) (i32.const ${2 * MIB})) (global (mut i32) (i32.const 17))`, MIB),
      MIB - 64 * KIB,
    );
  });

  test("is not there when data lies below, when the stack is small, and when no global tells of one", () => {
    assert.equal(floorOf(STACK, 1_024), undefined);
    assert.equal(floorOf(`(global (mut i32) (i32.const ${128 * KIB}))`, MIB), undefined);
    assert.equal(floorOf(`(global i32 (i32.const ${MIB}))`, MIB), undefined);
    assert.equal(floorOf(`(global (mut i64) (i64.const ${MIB}))`, MIB), undefined);
    assert.equal(floorOf("(global (mut i32) (i32.const -1))"), undefined);
    assert.equal(floorOf("", MIB), undefined);
  });

  test("is that of a policy in Rust, and of none that marks what it writes to", async () => {
    const store = new ModuleStore();
    const rust = await store.prepare(file("test/vectors/kubewarden/wasm/chaos-wapc.wasm"), 100);
    assert.equal(rust.floor?.address, MIB - 64 * KIB);
    assert.equal(rust.marking, undefined);
    const small = await store.prepare(file("test/fixtures/trivial/wapc.wasm"), 100);
    assert.equal(small.floor, undefined);
  });
});

const ALLOW = '{"accepted":true}';
const DENY = '{"accepted":false}';
/** Makes a module too large to mark what it writes to. */
const PADDING = `(func $padding ${"(drop (i32.const 1))".repeat(25_000)})`;

/**
 * A waPC guest with a stack of a MiB, which denies when it finds something where it may have written before.
 * @param input where its host writes the question
 */
const guest = (input: number): Uint8Array =>
  bytesOf(`(module
    (import "wapc" "__guest_request" (func $request (param i32 i32)))
    (import "wapc" "__guest_response" (func $answer (param i32 i32)))
    (memory (export "memory") 20)
    (global $sp (mut i32) (i32.const ${MIB}))
    (data (i32.const ${MIB}) ${JSON.stringify(ALLOW)}) (data (i32.const ${MIB + 100}) ${JSON.stringify(DENY)})
    (data (i32.const ${MIB + 200}) ${JSON.stringify('{"valid":true}')})
    ${PADDING}
    (func (export "__guest_call") (param $operation i32) (param $length i32) (result i32)
      (if (i32.or (i32.or (i32.load (i32.const 5000)) (i32.load (i32.const ${input}))) (i32.load (i32.sub (global.get $sp) (i32.const 64))))
        (then (call $answer (i32.const ${MIB + 100}) (i32.const ${DENY.length})) (return (i32.const 1))))
      (call $request (i32.const ${MIB + 300}) (i32.const ${input}))
      (if (i32.ne (local.get $operation) (i32.const 8))
        (then (call $answer (i32.const ${MIB + 200}) (i32.const 14)) (return (i32.const 1))))
      (i32.store (i32.sub (global.get $sp) (i32.const 64)) (i32.const 7))
      ;; The end of the question: the request's object is its last member.
      (if (i32.eq (i32.load (i32.add (i32.const ${input}) (i32.sub (local.get $length) (i32.const 23)))) (i32.const 0x7a7a7a7a))
        (then (i32.store (i32.const 5000) (i32.const 7))
          (if (i32.ne (i32.load (i32.const 5000)) (i32.const 7)) (then (unreachable)))))
      (if (i32.eq (i32.load (i32.add (i32.const ${input}) (i32.sub (local.get $length) (i32.const 23)))) (i32.const 0x79797979))
        (then (unreachable)))
      (call $answer (i32.const ${MIB}) (i32.const ${ALLOW.length})) (i32.const 1)))`);

const named = (name: string) => admission({ kind: "Pod", metadata: { name } });
const SHALLOW = named("aaaa");
const DEEP = named("zzzz");
const TRAPS = named("yyyy");

describe("a policy whose calls are kept above a floor", () => {
  test("answers also when a call needs what is below: on a thread once, and without the floor from then on", async (t) => {
    const { runtime } = testRuntime();
    t.after(() => runtime.close());
    const policy = await runtime.load({ id: "p", bytes: guest(MIB + 4_096), settings: {} });
    const ask = async (review: typeof DEEP) => (await policy.evaluate(review, context())).verdict;
    // Its state is taken meanwhile.
    for (let left = 5; left > 0; left--) assert.equal(await ask(SHALLOW), "allow");
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { answered, movedOn } = runtime.status().inline;
    assert.ok(answered >= 5);
    // What traps without a floor as well is no reason to do without.
    assert.equal(await ask(TRAPS), "error");
    assert.equal(await ask(SHALLOW), "allow");
    assert.equal(await ask(DEEP), "allow");
    assert.deepEqual(runtime.status().inline, { answered: answered + 1, movedOn: movedOn + 2 });
    // Two failures in a row send a policy to threads for eight calls.
    for (let left = 20; left > 0; left--) assert.equal(await ask(left % 2 === 0 ? DEEP : SHALLOW), "allow");
    const before = runtime.status().inline;
    for (let left = 10; left > 0; left--) assert.equal(await ask(DEEP), "allow");
    assert.deepEqual(runtime.status().inline, { ...before, answered: before.answered + 10 });
  });

  test("sees nothing of other calls that their host has written below", async (t) => {
    const { runtime } = testRuntime();
    t.after(() => runtime.close());
    const policy = await runtime.load({ id: "p", bytes: guest(64 * KIB), settings: {} });
    for (let left = 20; left > 0; left--) assert.equal((await policy.evaluate(SHALLOW, context())).verdict, "allow");
    assert.ok(runtime.status().inline.answered >= 20);
  });
});
