import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import type { Marking } from "../../../../src/wasm/rewrite/write-barriers/marking.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";
import { compareMarked } from "./marked.js";
import { randomStores } from "./random-stores.js";
import { verifyMetered } from "./verify.js";

/** Modules of each run of the tests; `test/fuzz/metered-modules.ts` compares as many as one has time for. */
const RANDOM_MODULES = 25;
/** Small regions have 8 KiB. */
const MARKINGS: readonly Marking[] = [{ shifts: [13] }, { shifts: [13, 16] }];
const markingOf = (seed: number): Marking => MARKINGS[seed % MARKINGS.length] ?? { shifts: [13] };

/** Bodies of a function with locals `$a`, `$b` and `$n`; the globals `$x`, `$y` and `$z` have values that can't be known, one below the end of a region, one at its beginning, one elsewhere. */
const BODIES: Readonly<Record<string, string>> = {
  "a local that another round of a loop has set": `(local.set $a (global.get $x)) (i32.store (local.get $a) (i32.const 7)) (local.set $n (i32.const 2))
    (loop $l (i32.store (local.get $a) (i32.const 7)) (local.set $a (global.get $z))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))`,
  "a local that one branch has set": `(local.set $a (global.get $z)) (if (local.get $n)
    (then (local.set $a (global.get $x)) (i32.store (local.get $a) (i32.const 7))) (else (i32.store (local.get $a) (i32.const 7))))`,
  "a local that a block has set, which may be left before": `(local.set $a (global.get $z)) (block $b (br_if $b (i32.eqz (local.get $n)))
    (local.set $a (global.get $x)) (i32.store (local.get $a) (i32.const 7))) (i32.store (local.get $a) (i32.const 7))`,
  "an address before one that was written to": `(local.set $a (global.get $y)) (local.set $a (global.get $x))
    (i32.store (i32.add (local.get $a) (i32.const 100)) (i32.const 7)) (i32.store (local.get $a) (i32.const 7))`,
  "locals made of one another, ever farther": `(local.set $a (i32.add (global.get $x) (i32.const 0))) (local.set $b (i32.add (local.get $a) (i32.const 4000)))
    (local.set $n (i32.add (local.get $b) (i32.const 4000))) (i32.store offset=4000 (local.get $n) (i32.const 7)) (i32.store (local.get $a) (i32.const 7)) (i32.store (local.get $a) (i32.const 7))`,
  "an address below a local": `(local.set $a (global.get $y)) (block (i32.store (local.get $a) (i32.const 7))) (block (i32.store (local.get $a) (i32.const 8)))
    (i32.store (i32.add (local.get $a) (i32.const -16)) (i32.const 7)) (i32.store8 (i32.add (i32.const -100) (local.get $a)) (i32.const 9))`,
  "an address that wraps around": `(local.set $a (i32.sub (i32.const 0) (i32.const 8))) (i32.store (i32.add (local.get $a) (i32.const 20)) (i32.const 7))`,
  "a local before it is set": `(i32.store offset=4000 (local.get $b) (i32.const 7)) (local.set $b (global.get $x)) (i32.store (local.get $b) (i32.const 7))`,
  "an old value of a local": `(local.set $a (global.get $x)) (i32.store (local.get $a) (block (result i32) (local.set $a (global.get $z)) (i32.const 7)))
    (i32.store (local.get $a) (i32.const 7))`,
  "a field beyond what a mark covers": `(i64.store offset=4090 (global.get $x) (i64.const -7)) (i32.store offset=70000 (global.get $x) (i32.const 7))`,
  "what a compare and exchange has exchanged": `(drop (i32.atomic.rmw.cmpxchg (global.get $z) (i32.load (global.get $z)) (i32.const 7)))
    (drop (i64.atomic.rmw8.cmpxchg_u offset=20000 (global.get $z) (i64.load8_u offset=20000 (global.get $z)) (i64.const 7)))`,
  "atomic and vector stores": `(i32.atomic.store8 (global.get $z) (i32.const 7)) (drop (i64.atomic.rmw.xor offset=16384 (global.get $z) (i64.const -7)))
    (v128.store64_lane offset=32768 1 (global.get $z) (v128.const i64x2 1 2)) (v128.store offset=49152 (global.get $z) (v128.const i64x2 1 2))`,
  "ranges, and one as long as all regions": `(memory.fill (global.get $x) (i32.const 7) (i32.const 9000)) (memory.copy (global.get $z) (i32.const 100) (i32.const 20000))
    (memory.fill (i32.const 0) (i32.const 7) (i32.const 524288))`,
  "a passive segment": `(memory.init $d (global.get $x) (i32.const 0) (i32.const 10))`,
  "what lies in pages that have been added": `(i32.store (i32.add (i32.shl (memory.grow (i32.const 2)) (i32.const 16)) (i32.const 70000)) (i32.const 7))`,
  "several results of a call": `(call $two) (drop) (i32.store (i32.const 7)) (call $two) (i32.store)`,
  "parameters of blocks": `(global.get $x) (block (param i32) (i32.store (i32.const 7))) (global.get $z) (i32.const 1) (if (param i32) (then (i32.store (i32.const 7))) (else (i32.store (i32.const 8))))`,
  "code that can't be reached": `(block $b (br $b) (i32.store (unreachable)) (local.set $a (global.get $x))) (i32.store (local.tee $a (global.get $z)) (i32.const 7))`,
  "exceptions that are caught": `(try (do (i32.store (global.get $x) (i32.const 7)) (throw $t (i32.const 1))) (catch $t (drop) (i32.store (global.get $z) (i32.const 7))))`,
};

const moduleOf = (
  body: string,
): string => `(module (memory (export "memory") 8 16) (data $d "0123456789") (tag $t (param i32))
  (global $x (mut i32) (i32.const ${25 * 8192 - 4})) (global $y (mut i32) (i32.const ${33 * 8192})) (global $z (mut i32) (i32.const ${41 * 8192 + 96}))
  (func $two (result i32 i32) (global.get $z) (i32.add (global.get $y) (i32.const 5000)))
  (func (export "f") (local $a i32) (local $b i32) (local $n i32) ${body})
  (func (export "g") (local $a i32) (local $b i32) (local $n i32) (local.set $n (i32.const 1)) ${body}))`;

describe("a module that marks what it writes to", () => {
  test("does what it does without, and marks every byte that it changes, whatever the module", () => {
    for (let seed = 0; seed < RANDOM_MODULES; seed++) {
      const text = randomStores(seed);
      assert.deepEqual(compareMarked(bytesOf(text), seed, markingOf(seed)), { kind: "equal" }, text);
    }
  });

  for (const [what, body] of Object.entries(BODIES))
    for (const marking of MARKINGS)
      test(`marks ${what}, in regions of ${marking.shifts.length} sizes`, () =>
        assert.deepEqual(compareMarked(bytesOf(moduleOf(body)), 1, marking), { kind: "equal" }));

  test("is paid for as without", () => {
    for (const path of [
      "policies/add-label/policy.wasm",
      "test/vectors/rego/opa.wasm",
      "test/vectors/kubewarden/wasm/chaos-wapc.wasm",
    ]) {
      for (const marking of MARKINGS) {
        const bytes = meterModule(file(path), marking);
        assert.equal(verifyMetered(bytes), undefined, path);
        new WebAssembly.Module(bytes);
      }
    }
  });
});
