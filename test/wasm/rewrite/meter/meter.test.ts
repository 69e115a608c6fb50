import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { METER_MODULE, PAID_BYTES, REFILL } from "../../../../src/wasm/rewrite/meter/helpers.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";
import { compareBoth } from "./both.js";
import { randomModule } from "./random-module.js";
import { verifyMetered } from "./verify.js";

/** Units of the only slice in tests of what runs for ever. */
const SLICE = 100_000;

/** Modules of each run of the tests; scripts/wasm-smith compares as many as one has time for. */
const RANDOM_MODULES = 30;

/** A module of one function `f`, of which this is the body with its locals. */
function moduleOf(body: readonly number[]): Uint8Array<ArrayBuffer> {
  const code = [10, body.length + 2, 1, body.length, ...body];
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  return Uint8Array.from([...header, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, ...code]);
}

type Run = (...values: (number | bigint)[]) => unknown;

/** An instance of a metered module, and how often it asked for fuel. */
function metered(text: string, slices = Number.POSITIVE_INFINITY, imports: WebAssembly.Imports = {}) {
  const bytes = meterModule(bytesOf(text));
  assert.equal(verifyMetered(bytes), undefined);
  const asked = { times: 0 };
  const refill = () => (asked.times++ < slices ? SLICE : 0);
  const make = () =>
    new WebAssembly.Instance(new WebAssembly.Module(bytes), { ...imports, [METER_MODULE]: { [REFILL]: refill } });
  return { bytes, asked, make };
}

const call = (instance: WebAssembly.Instance, name: string, ...values: number[]) =>
  (instance.exports[name] as Run)(...values);

/** Bodies of the function `run` that don't end. */
const ENDLESS: Readonly<Record<string, string>> = {
  "a loop": `(func (export "run") (loop (br 0)))`,
  "a loop with parameters": `(func (export "run") (i32.const 1) (loop (param i32) (result i32) (br 0)) (drop))`,
  "a loop left and entered by branches": `(func (export "run") (loop $a (block (br_if 0 (i32.const 0)) (br $a))))`,
  "a back-edge of a table": `(func (export "run") (loop $a (block $b (br_table $b $a $a (i32.const 1)))))`,
  "loops in loops": `(func (export "run") (loop $a (loop $b (br_if $b (i32.const 0)) (br $a))))`,
  recursion: `(func $a (export "run") (call $b)) (func $b (call $a))`,
  "recursion by way of functions that are small": `(func $a (export "run") (call $b) (call $c)) (func $b (call $c)) (func $c (call $d)) (func $d (call $b) (call $a))`,
  "small functions that call one with a loop": `(func $a (call $b)) (func $b (call $c)) (func $c (loop (br 0))) (func (export "run") (call $a))`,
  "small functions that call one that calls itself by a table": `(type $t (func)) (table funcref (elem $b)) (func $a (call $b)) (func $b (call_indirect (type $t) (i32.const 0)) (call $a)) (func (export "run") (call $a))`,
  "copying short lengths": `(memory 1) (func (export "run") (param $n i32) (loop (memory.copy (i32.const 0) (i32.const 8) (i32.const 1024)) (br 0)))`,
  "tail calls": `(func $a (export "run") (return_call $b)) (func $b (return_call $a))`,
  "indirect tail calls": `(type $t (func)) (table funcref (elem $a)) (func $a (export "run") (return_call_indirect (type $t) (i32.const 0)))`,
  "small functions in a loop": `(func $a) (func $b (call $a)) (func (export "run") (loop (call $b) (br 0)))`,
  "filling memory": `(memory 1) (func (export "run") (loop (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536)) (br 0)))`,
  "a handler around a loop": `(tag $t) (func (export "run") (loop $a (try (do (loop (br 0))) (catch_all (br $a)))))`,
  "throwing and catching": `(tag $t) (func (export "run") (loop $a (try (do (throw $t)) (catch $t (br $a)) (catch_all (br $a)))))`,
};

describe("a metered module", () => {
  for (const [what, functions] of Object.entries(ENDLESS))
    test(`ends when its fuel does: ${what}`, () => {
      const { make, asked } = metered(`(module ${functions})`, 3);
      const instance = make();
      assert.throws(() => call(instance, "run"), {
        name: /RuntimeError|RangeError/,
        message: /unreachable|call stack/,
      });
      if (!what.startsWith("recursion")) assert.equal(asked.times, 4);
    });

  describe("in a function with loops, which keeps the fuel in a local, what is run is charged", () => {
    /** Rounds of a loop, and how often it is gone through. */
    const [ROUNDS, TIMES] = [1_000, 300];
    const rounds = `(loop $more (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const ${ROUNDS}))))`;
    const times = (each: string): string =>
      `(func (export "run") (local $n i32) (loop $next ${each} (br_if $next (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const ${TIMES})))))`;
    const long = (end: string): string => `(func $long (local $i i32) ${rounds} ${end})`;
    const caught = (call: string): string => `(try (do ${call}) (catch_all))`;
    for (const [what, functions] of Object.entries({
      "to its end": `${long("")} ${times("(call $long)")}`,
      "until it returns": `${long("(return)")} ${times("(call $long)")}`,
      "until it returns from within blocks": `${long("(block (block (return)))")} ${times("(call $long)")}`,
      "until it branches out of itself": `${long("(block (br 1)) (unreachable)")} ${times("(call $long)")}`,
      "until it branches out of itself on a condition": `${long("(br_if 0 (i32.const 1)) (unreachable)")} ${times("(call $long)")}`,
      "until it branches out of itself by a table": `${long("(block (br_table 0 1 (i32.const 1))) (unreachable)")} ${times("(call $long)")}`,
      "until it throws": `(tag $t) ${long("(throw $t)")} ${times(caught("(call $long)"))}`,
      "until it calls another one last": `(func $last) ${long("(return_call $last)")} ${times("(call $long)")}`,
      "until a small one that it calls throws": `(tag $t) (func $small (throw $t)) ${long("(call $small)")} ${times(caught("(call $long)"))}`,
      "by those that it calls by a table": `(table funcref (elem $long)) ${long("")} ${times("(call_indirect (i32.const 0))")}`,
      "where it catches what others throw": `(tag $t) ${long("(throw $t)")} (func $once (call $long)) ${times(caught("(call $once)"))}`,
      "by operations on memory": `(memory 1) ${times(`(memory.fill (i32.const 0) (i32.const 0) (i32.const 65536))`)}`,
      "by operations on tables": `(table 20000 funcref) ${times("(table.fill (i32.const 0) (table.get (i32.const 0)) (i32.const 20000))")}`,
    }))
      test(what, () => {
        const { make, asked } = metered(`(module ${functions})`);
        call(make(), "run");
        assert.ok(asked.times >= (ROUNDS * TIMES * 3) / SLICE, `${asked.times}`);
      });

    test("and no more than it may be", () => {
      const { make, asked } = metered(`(module ${long("")} ${times("(call $long)")})`);
      call(make(), "run");
      assert.ok(asked.times <= (ROUNDS * TIMES * 10) / SLICE, `${asked.times}`);
    });
  });

  test("a start function is metered", () => {
    const { make } = metered(`(module (func $other) (start $run) (func $run (loop (br 0))))`, 2);
    assert.throws(make, /unreachable/);
  });

  test("bulk operations are charged by their length before they run", () => {
    const { make, asked } = metered(
      `(module (memory (export "memory") 100) (func (export "run") (param i32)
         (memory.fill (i32.const 0) (i32.const 7) (local.get 0))))`,
      2,
    );
    const instance = make();
    // Short ones are paid for by their weight, and this function by its caller.
    call(instance, "run", PAID_BYTES);
    assert.equal(asked.times, 0);
    call(instance, "run", PAID_BYTES + 1);
    assert.equal(asked.times, 1);
    // 100 pages are 409,600 units; there are at most 200,000.
    assert.throws(() => call(instance, "run", 6_553_600), /unreachable/);
    const { memory } = instance.exports as { memory: WebAssembly.Memory };
    assert.equal(new Uint8Array(memory.buffer)[2 * PAID_BYTES], 0);
  });

  test("lengths and pages are unsigned", () => {
    const { make } = metered(
      `(module (memory 1 4) (table 2 10 funcref)
         (func (export "fill") (memory.fill (i32.const 0) (i32.const 0) (i32.const -1)))
         (func (export "grow") (result i32) (memory.grow (i32.const -1)))
         (func (export "table") (result i32) (table.grow (table.get (i32.const 0)) (i32.const -1))))`,
    );
    const instance = make();
    assert.throws(() => call(instance, "fill"), /out of bounds/);
    assert.equal(call(instance, "grow"), -1);
    assert.equal(call(instance, "table"), -1);
  });

  test("functions are found under their new indices by calls, tables, exports and names", () => {
    const { make, bytes } = metered(
      `(module (import "host" "one" (func $one (result i32))) (table $t 8 funcref)
         (elem (i32.const 0) $two) (elem (table $t) (i32.const 1) func $three) (elem $passive func $two $three)
         (elem declare func $three) (elem (i32.const 2) funcref (ref.func $one) (ref.func $two))
         (elem $expressions funcref (ref.func $two)) (global (export "g") funcref (ref.func $three))
         (func $two (export "two") (result i32) (i32.const 2))
         (func $three (export "three") (result i32) (i32.add (call $one) (call $two)))
         (func (export "at") (param i32) (result i32)
           (table.init $passive (i32.const 4) (i32.const 0) (i32.const 2))
           (table.init $expressions (i32.const 6) (i32.const 0) (i32.const 1))
           (call_indirect (result i32) (local.get 0))))`,
      Number.POSITIVE_INFINITY,
      { host: { one: () => 1 } },
    );
    const instance = make();
    assert.deepEqual(
      [0, 1, 2, 4, 5, 6].map((at) => call(instance, "at", at)),
      [2, 3, 1, 2, 3, 2],
    );
    assert.deepEqual([call(instance, "two"), call(instance, "three")], [2, 3]);
    assert.equal((instance.exports.g as unknown as { value: Run }).value(), 3);
    assert.ok(bytes.length > 0);
  });

  test("what lies behind the module's own functions, globals and locals is the meter's", () => {
    const withBody = (...body: number[]) => moduleOf([0, ...body, 0x0b]);
    for (const [what, ...body] of [
      ["function", 0x10, 2],
      ["global", 0x23, 0, 0x1a],
      ["local", 0x20, 0, 0x1a],
    ] as const)
      assert.throws(() => meterModule(withBody(...body)), {
        code: "wasm-invalid",
        message: new RegExp(`names ${what} .*in function 0`),
      });
    assert.throws(() => meterModule(withBody(0xff)), {
      code: "wasm-meter",
      message: "instruction 0xff at offset 30 is not known (in function 0)",
    });
    assert.throws(() => meterModule(withBody(0xfc, 0x7f)), { code: "wasm-meter", message: /0xfc7f at offset 30/ });
    assert.throws(() => meterModule(withBody(0x41)), { code: "wasm-invalid" });
  });

  test("what lies behind the module's own functions and globals is the host's before the meter's", () => {
    // As it is when the host has added the global of the memory's size and functions that read it.
    const own = { functions: 1, globals: 0 };
    const more = (body: readonly number[]) => {
      const bytes = bytesOf(
        `(module (memory 1) (global (mut i32) (i32.const 1)) (func (export "f")) (func (export "host") (result i32) (global.get 0)))`,
      );
      const at = bytes.lastIndexOf(10);
      const code = [2, body.length + 2, 0, ...body, 0x0b, 4, 0, 0x23, 0, 0x0b];
      return Uint8Array.from([...bytes.subarray(0, at), 10, code.length, ...code]);
    };
    assert.equal(verifyMetered(meterModule(more([]), undefined, own), own), undefined);
    for (const body of [
      [0x23, 0, 0x1a],
      [0x41, 0, 0x24, 0],
      [0x10, 1, 0x1a],
    ])
      assert.throws(() => meterModule(more(body), undefined, own), {
        code: "wasm-invalid",
        message: /not there \(in function 0\)/,
      });
  });

  test("a memory's size may be asked for under a number that is longer than it need be, and no other memory's", () => {
    const own = { functions: 1, globals: 0 };
    // A module with a memory of one page, the global of its size, which says 3, and `f`: () -> i32.
    const of = (...body: number[]) => {
      const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
      const sections = [
        1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1, 6, 6, 1, 0x7f, 1, 0x41, 3, 0x0b, 7, 5, 1, 1, 102, 0, 0,
      ];
      return Uint8Array.from([...header, ...sections, 10, body.length + 4, 1, body.length + 2, 0, ...body, 0x0b]);
    };
    const run = (...body: number[]) => {
      const bytes = meterModule(of(...body), undefined, own);
      assert.equal(verifyMetered(bytes, own), undefined);
      return call(
        new WebAssembly.Instance(new WebAssembly.Module(bytes), { [METER_MODULE]: { [REFILL]: () => SLICE } }),
        "f",
      );
    };
    assert.equal(run(0x3f, 0), 3);
    assert.equal(run(0x3f, 0x80, 0), 3);
    assert.equal(run(0x41, 0, 0x40, 0x80, 0x80, 0), 3);
    for (const other of [
      [0x3f, 1],
      [0x41, 0, 0x40, 1],
    ])
      assert.throws(() => new WebAssembly.Module(meterModule(of(...other), undefined, own)), { name: "CompileError" });
  });

  test("a module that asks for the meter's import is refused", () =>
    assert.throws(() => meterModule(bytesOf(`(module (import "${METER_MODULE}" "${REFILL}" (func (result i32))))`)), {
      code: "wasm-imports",
    }));

  test("a function with as many locals as the engine takes is metered without one more", () => {
    // One group of 50,000 i32 locals, and (loop (br 0)).
    const bytes = meterModule(moduleOf([1, 0xd0, 0x86, 0x03, 0x7f, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b]));
    assert.equal(verifyMetered(bytes), undefined);
    let asked = 0;
    const refill = () => (asked++ < 2 ? SLICE : 0);
    const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { [METER_MODULE]: { [REFILL]: refill } });
    assert.throws(() => call(instance, "f"), /unreachable/);
  });

  test("functions keep their names", () => {
    const names = [0, 13, 4, ...Buffer.from("name"), 1, 6, 1, 0, 3, ...Buffer.from("one")];
    const bytes = meterModule(Uint8Array.from([...moduleOf([0, 0, 0x0b]), ...names]));
    const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), "name");
    assert.deepEqual([...new Uint8Array(section ?? new ArrayBuffer(0))], [1, 6, 1, 1, 3, ...Buffer.from("one")]);
  });

  test("random modules do what they did before", () => {
    for (let seed = 0; seed < RANDOM_MODULES; seed++) {
      const text = randomModule(seed);
      assert.deepEqual(compareBoth(bytesOf(text), seed), { kind: "equal" }, text);
    }
  });

  test("every module of the tests and examples is paid for", () => {
    for (const path of [
      "policies/add-label/policy.wasm",
      "test/fixtures/chaos/wapc.wasm",
      "test/fixtures/extism/probe.wasm",
      "test/vectors/rego/opa.wasm",
      "test/vectors/kubewarden/wasm/chaos-wasi.wasm",
    ]) {
      const bytes = meterModule(file(path));
      assert.equal(verifyMetered(bytes), undefined, path);
      new WebAssembly.Module(bytes);
    }
  });
});
