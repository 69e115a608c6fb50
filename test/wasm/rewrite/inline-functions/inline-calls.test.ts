import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { InstructionWalker } from "../../../../src/wasm/rewrite/binary/instruction-walker.js";
import { OP } from "../../../../src/wasm/rewrite/binary/instructions.js";
import { Reader, skipValueType } from "../../../../src/wasm/rewrite/binary/reader.js";
import { readSections, SECTION_CODE } from "../../../../src/wasm/rewrite/binary/sections.js";
import { inlineCalls } from "../../../../src/wasm/rewrite/inline-functions/inline-calls.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";
import { compareBoth } from "../meter/both.js";
import { verifyMetered } from "../meter/verify.js";
import { GENEROUS } from "./generous.js";
import { randomFunctions } from "./random-functions.js";

/** Modules of each run of the tests; the fuzzer compares as many as one has time for. */
const RANDOM_MODULES = 200;

/** By function that the module defines, its calls of others and its locals without its parameters. */
function functionsIn(bytes: Uint8Array): { readonly calls: number; readonly locals: number }[] {
  const code = readSections(bytes).find(({ id }) => id === SECTION_CODE);
  const reader = new Reader(code?.body ?? Uint8Array.of(0), 0);
  return Array.from({ length: reader.unsigned() }, () => {
    const body = reader.bytes(reader.unsigned());
    const declared = new Reader(body, 0);
    let locals = 0;
    for (let groups = declared.unsigned(); groups > 0; groups--) {
      locals += declared.unsigned();
      skipValueType(declared);
    }
    const walker = new InstructionWalker(body, declared.position, body.length);
    let calls = 0;
    while (!walker.done) {
      walker.next();
      if (walker.code === OP.call) calls++;
    }
    return { calls, locals };
  });
}

/** Expands a module's calls: what its function `f` returns must stay the same. */
function expand(functions: string, ...values: number[]) {
  const bytes = bytesOf(`(module ${functions})`);
  const expanded = inlineCalls(bytes);
  const run = (module: Uint8Array<ArrayBuffer>): unknown =>
    (new WebAssembly.Instance(new WebAssembly.Module(module)).exports.f as (...given: number[]) => unknown)(...values);
  const returned = run(expanded);
  assert.deepEqual(returned, run(bytes));
  const found = functionsIn(expanded);
  return {
    returned,
    calls: found.map(({ calls }) => calls),
    locals: found.map(({ locals }) => locals),
    bytes,
    expanded,
  };
}

const LEAF = "(func $leaf (param $a i32) (result i32) (i32.add (local.get $a) (i32.const 1)))";

describe("small functions are written where they are called", () => {
  test("with their parameters in order, and what lies below them on the stack", () => {
    const { returned, calls } = expand(`
      (func $minus (param $a i32) (param $b i32) (result i32) (i32.sub (local.get $a) (local.get $b)))
      (func (export "f") (result i32) (i32.mul (i32.const 10) (call $minus (i32.const 9) (i32.const 4))))`);
    assert.equal(returned, 50);
    assert.deepEqual(calls, [0, 0]);
  });

  test("with locals of all types that are zeros each time", () => {
    const { returned, calls } = expand(`
      (func $count (result f64) (local $a i32) (local $b i64) (local $c f32) (local $d f64)
        (local.set $a (i32.add (local.get $a) (i32.const 1)))
        (local.set $b (i64.add (local.get $b) (i64.const 1)))
        (local.set $c (f32.add (local.get $c) (f32.const 1)))
        (local.set $d (f64.add (f64.convert_i32_s (local.get $a)) (f64.convert_i64_s (local.get $b))))
        (f64.add (local.get $d) (f64.promote_f32 (local.get $c))))
      (func (export "f") (result f64) (local $n i32) (local $sum f64)
        (loop $again
          (local.set $sum (f64.add (local.get $sum) (call $count)))
          (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 3))))
        (local.get $sum))`);
    assert.equal(returned, 9);
    assert.deepEqual(calls, [0, 0]);
  });

  test("with vectors", () => {
    const { returned, calls } = expand(`
      (func $sum (param $v v128) (result i32) (local $w v128)
        (local.set $w (i32x4.add (local.get $v) (local.get $w))) (i32x4.extract_lane 3 (local.get $w)))
      (func (export "f") (result i32) (i32.add (call $sum (v128.const i32x4 1 2 3 4)) (call $sum (v128.const i32x4 5 6 7 8))))`);
    assert.equal(returned, 12);
    assert.deepEqual(calls, [0, 0]);
  });

  test("which they leave by a return, by a branch to their own label and by a table", () => {
    for (const [value, expected] of [
      [0, 10],
      [1, 20],
      [2, 30],
      [3, 40],
    ] as const) {
      const { returned, calls } = expand(
        `(func $choose (param $n i32) (result i32)
          (block $c (block $b (block $a (br_table $a $b $c (local.get $n)))
            (return (i32.const 10)))
            (br 1 (i32.const 20)))
          (if (i32.eq (local.get $n) (i32.const 2)) (then (return (i32.const 30))))
          (i32.const 40))
        (func (export "f") (param $n i32) (result i32) (block (result i32) (call $choose (local.get $n))))`,
        value,
      );
      assert.equal(returned, expected);
      assert.deepEqual(calls, [0, 0]);
    }
  });

  test("within one another, and twice side by side, with locals that are used again", () => {
    const { returned, calls, locals } = expand(`${LEAF}
      (func $two (param $a i32) (result i32) (local $b i32)
        (local.set $b (call $leaf (local.get $a))) (i32.add (call $leaf (local.get $b)) (call $leaf (local.get $b))))
      (func $four (param $a i32) (result i32) (i32.add (call $two (local.get $a)) (call $two (local.get $a))))
      (func (export "f") (param $a i32) (result i32) (call $four (i32.const 100)))`);
    assert.equal(returned, 408);
    assert.deepEqual(calls, [0, 0, 0, 0]);
    assert.deepEqual(locals, [0, 2, 3, 4]);
  });

  test("where nothing is left on the stack, and where the code goes nowhere behind it", () => {
    const { calls } = expand(`(global $g (mut i32) (i32.const 0)) (memory 1)
      (func $set (param $a i32) (global.set $g (local.get $a)))
      (func $get (result i32) (global.get $g))
      (func $write (param $a i32) (i32.store (local.get $a) (i32.const 7)))
      (func (export "f") (result i32)
        (call $set (i32.const 5)) (call $write (i32.const 8))
        (return (i32.add (call $get) (i32.load (i32.const 8))))
        (call $set) (drop (call $get)))`);
    assert.deepEqual(calls, [0, 0, 0, 0]);
  });

  test("but not functions that call themselves beyond one round, by themselves or by others", () => {
    const { calls, locals, returned } = expand(
      `(func $down (param $n i32) (result i32)
        (if (result i32) (local.get $n) (then (call $down (i32.sub (local.get $n) (i32.const 1)))) (else (i32.const 3))))
      (func $even (param $n i32) (result i32)
        (if (result i32) (local.get $n) (then (call $odd (i32.sub (local.get $n) (i32.const 1)))) (else (i32.const 1))))
      (func $odd (param $n i32) (result i32)
        (if (result i32) (local.get $n) (then (call $even (i32.sub (local.get $n) (i32.const 1)))) (else (i32.const 0))))
      (func (export "f") (param $n i32) (result i32) (i32.add (call $down (local.get $n)) (call $even (local.get $n))))`,
      8,
    );
    assert.equal(returned, 4);
    assert.deepEqual(calls, [1, 1, 1, 2]);
    assert.deepEqual(locals, [0, 1, 1, 2]);
  });

  // Of 256 KiB of code.
  const padding = `(func ${"(drop (i64.const -9223372036854775808))".repeat(22_000)})`;
  for (const [name, bytes, more] of [
    ["a small module", 150, ""],
    ["another", 60, padding],
  ] as const) {
    test(`with loops of their own, and with larger code in a loop of the caller's, in ${name}`, () => {
      const large = "(drop (i32.const 1))".repeat(bytes / 3);
      const { calls, returned } = expand(`
        (func $times (param $n i32) (result i32) (local $sum i32)
          (loop $again
            (local.set $sum (i32.add (local.get $sum) (i32.const 3)))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (local.get $sum))
        (func $large (param $n i32) (result i32) ${large} (i32.add (local.get $n) (i32.const 1)))
        (func $larger (param $n i32) (result i32) ${large}${large}${large} (local.get $n))
        (func $caller (param $n i32) (result i32) (call $large (local.get $n)))
        (func (export "f") (result i32) (local $n i32) (local $sum i32)
          (loop $again
            (local.set $sum (i32.add (local.get $sum) (call $times (i32.const 2))))
            (local.set $n (call $caller (local.get $n)))
            (drop (call $larger (i32.const 0)))
            (br_if $again (i32.lt_u (local.get $n) (i32.const 5))))
          (i32.add (local.get $sum) (call $large (i32.const 0))))
        ${more}`);
      assert.equal(returned, 31);
      // Each of the last two calls of the one that is exported: in the loop it is too large, and behind the loop the other one is.
      assert.deepEqual(calls.slice(0, 5), [0, 0, 0, 1, 2]);
    });
  }

  test("to a depth of three", () => {
    const one = (name: string, next: string) =>
      `(func ${name} (param i32) (result i32) (i32.add (call ${next} (local.get 0)) (i32.const 1)))`;
    const chain = [one("$a", "$leaf"), one("$b", "$a"), one("$c", "$b"), one("$d", "$c")].join(" ");
    const { calls, returned } = expand(`${LEAF} ${chain} (func (export "f") (result i32) (call $d (i32.const 0)))`);
    assert.equal(returned, 5);
    assert.deepEqual(calls, [0, 0, 0, 0, 1, 1]);
  });

  test("calls behind which nothing is reached stay", () => {
    const { calls } = expand(`(func $fail (param i32) (unreachable))
      (func (export "f") (result i32) (if (i32.const 0) (then (call $fail (i32.const 1)) (unreachable))) (i32.const 1))`);
    assert.deepEqual(calls, [0, 1]);
  });
});

/** What keeps the function `$g` from being expanded. */
const KEPT: Readonly<Record<string, string>> = {
  "a tail call": `${LEAF} (func $g (param i32) (result i32) (return_call $leaf (local.get 0)))`,
  "an indirect tail call": `(type $t (func (param i32) (result i32))) ${LEAF} (table funcref (elem $leaf))
    (func $g (param i32) (result i32) (return_call_indirect (type $t) (local.get 0) (i32.const 0)))`,
  "a handler": "(func $g (param i32) (result i32) (try (result i32) (do (local.get 0)) (catch_all (i32.const 2))))",
  "a local that is a reference": "(func $g (param i32) (result i32) (local funcref) (local.get 0))",
  "too many locals":
    "(func $g (param i32) (result i32) (local i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (local.get 0))",
  "its length": `(func $g (param i32) (result i32) ${"(drop (i32.const 1))".repeat(50)} (local.get 0))`,
};

describe("a function is called as before because of", () => {
  for (const [what, functions] of Object.entries(KEPT))
    test(what, () => {
      const { calls } = expand(`${functions} (func (export "f") (result i32) (call $g (i32.const 1)))`);
      assert.equal(calls.at(-1), 1);
    });

  test("two results", () => {
    const { calls } = expand(`(func $g (result i32 i32) (i32.const 1) (i32.const 2))
      (func (export "f") (result i32) (call $g) (i32.add))`);
    assert.equal(calls.at(-1), 1);
  });

  test("a parameter that is a reference", () => {
    const { calls } = expand(`(table 1 funcref) (func $g (param funcref) (result i32) (ref.is_null (local.get 0)))
      (func (export "f") (result i32) (call $g (table.get 0 (i32.const 0))))`);
    assert.equal(calls.at(-1), 1);
  });

  test("what its caller has grown by", () => {
    const calls = (count: number) =>
      expand(
        `${LEAF} (func (export "f") (result i32) ${"(drop (call $leaf (i32.const 1)))".repeat(count)} (i32.const 1))`,
      ).calls[1];
    assert.equal(calls(10), 0);
    assert.ok((calls(1_000) ?? 0) > 300);
  });

  test("what all of the code has grown by", () => {
    const caller = '(func (export "f%") (result i32) (call $leaf (i32.const 1)))';
    const callers = Array.from({ length: 1_000 }, (_, number) => caller.replace("%", number === 0 ? "" : `${number}`));
    const { bytes, expanded, calls } = expand(`${LEAF} ${callers.join(" ")}`);
    assert.equal(calls[1], 0);
    assert.equal(calls.at(-1), 1);
    assert.ok(expanded.length < bytes.length * 2);
  });

  test("the many locals of its caller", () => {
    const { calls } = expand(
      `${LEAF} (func (export "f") (result i32) (local ${"i32 ".repeat(1_000)}) (call $leaf (i32.const 1)))`,
    );
    assert.equal(calls[1], 1);
  });
});

describe("what can't be expanded stays as it is", () => {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  /** Two functions () -> (), the second one with a body of these bytes. */
  const withBody = (...body: number[]) => {
    const code = [2, 2, 0, 0x0b, body.length + 2, 0, ...body, 0x0b];
    return Uint8Array.from([...header, 1, 4, 1, 0x60, 0, 0, 3, 3, 2, 0, 0, 10, code.length, ...code]);
  };

  test("a call of what is not there, or is not the guest's own", () => {
    assert.deepEqual(inlineCalls(withBody(0x10, 9)), withBody(0x10, 9));
    assert.notDeepEqual(inlineCalls(withBody(0x10, 0)), withBody(0x10, 0));
    assert.deepEqual(inlineCalls(withBody(), { functions: 1, globals: 0 }), withBody());
    const reversed = Uint8Array.from([
      ...[...header, 1, 4, 1, 0x60, 0, 0, 3, 3, 2, 0, 0],
      ...[10, 9, 2, 4, 0, 0x10, 1, 0x0b, 2, 0, 0x0b],
    ]);
    assert.notDeepEqual(inlineCalls(reversed), reversed);
    assert.deepEqual(inlineCalls(reversed, { functions: 1, globals: 0 }), reversed);
  });

  test("a module with no functions but this server's", () =>
    assert.deepEqual(inlineCalls(withBody(0x10, 0), { functions: 0, globals: 0 }), withBody(0x10, 0)));

  test("code that is not known or has no end, as metering says", () => {
    for (const body of [[0xff], [0xfc, 0x7f], [0x41], [0x0b, 0x0b], [0x02, 0x40]]) {
      const bytes = withBody(...body);
      const rest = inlineCalls(bytes);
      assert.equal(rest.length, bytes.length);
      assert.throws(() => new WebAssembly.Module(meterModule(rest)), /invalid wasm|not known|CompileError/);
    }
  });

  test("a function whose locals are not there", () => {
    // The first function names a local that it does not have; the second one calls it.
    const code = [2, 5, 0, 0x20, 0, 0x1a, 0x0b, 4, 0, 0x10, 0, 0x0b];
    const bytes = Uint8Array.from([...header, 1, 4, 1, 0x60, 0, 0, 3, 3, 2, 0, 0, 10, code.length, ...code]);
    assert.deepEqual(inlineCalls(bytes), bytes);
    assert.throws(() => meterModule(bytes), { code: "wasm-invalid" });
  });

  test("a module without code", () => assert.deepEqual(inlineCalls(bytesOf("(module)")), bytesOf("(module)")));
});

describe("expanded modules", () => {
  test("do what they did before", () => {
    let expanded = 0;
    for (let seed = 0; seed < RANDOM_MODULES; seed++) {
      const limits = seed % 2 === 0 ? undefined : GENEROUS;
      const comparison = compareBoth(randomFunctions(seed), seed, (bytes, own) => {
        const result = inlineCalls(bytes, own, limits);
        if (result.length > bytes.length) expanded++;
        return result;
      });
      assert.equal(comparison.kind, "equal", `${seed}: ${JSON.stringify(comparison)}`);
    }
    assert.ok(expanded > RANDOM_MODULES * 0.9, `${expanded}`);
  });

  test("are paid for", () => {
    for (const path of ["policies/add-label/policy.wasm", "test/vectors/kubewarden/wasm/chaos-wapc.wasm"]) {
      const bytes = new Uint8Array(file(path));
      const expanded = inlineCalls(bytes);
      assert.ok(expanded.length > bytes.length, path);
      assert.equal(verifyMetered(meterModule(expanded)), undefined, path);
    }
  });
});
