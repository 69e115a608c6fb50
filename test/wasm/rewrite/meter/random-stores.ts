/** Random modules that write to memory in all the ways that compilers do, and some that they don't, in the text format. */
import { pick, type Random, random } from "../../../fuzz/random.js";

const FUNCTIONS = 3;
/** Blocks within one another. */
const DEPTH = 3;
/** Rounds of a loop. */
const ROUNDS = 3;
const LOCALS = ["$p", "$q", "$a", "$b", "$c"] as const;
/** Of addresses that are made anew; with all that is added they stay within the pages of the memory. */
const ADDRESSES = 0x3_ffff;
const PAGES = 8;
/** Fields near and far: the last ones lie beyond what an address's own mark covers. */
const OFFSETS = [0, 0, 0, 4, 8, 60, 1_000, 4_060, 4_080, 4_090, 8_000, 70_000] as const;
const STORES = [
  "i32.store",
  "i32.store8",
  "i32.store16",
  "i64.store",
  "i64.store32",
  "f32.store",
  "f64.store",
  "v128.store",
] as const;

/** The same module for the same seed. @param hasAtomics whether some stores are atomic ones */
export function randomStores(seed: number, hasAtomics = true): string {
  const below = random(seed);
  const functions = Array.from({ length: FUNCTIONS }, (_, number) => oneFunction(number, below, hasAtomics)).join("\n");
  return `(module (memory (export "memory") ${PAGES} 12) (data $d "0123456789")
    (global $sp (mut i32) (i32.const 200000)) (global $g (mut i32) (i32.const 1)) ${functions})`;
}

/** Functions only call those behind them. */
function oneFunction(number: number, below: Random, hasAtomics: boolean): string {
  let counters = 0;
  const hasFrame = below(2) === 0;
  const local = () => pick(below, LOCALS);
  const value = (): string =>
    pick(below, [
      () => `(local.get ${local()})`,
      () => `(i32.const ${below(100_000)})`,
      () => `(i32.load (i32.and (local.get ${local()}) (i32.const ${ADDRESSES})))`,
      () => `(i32.add (local.get ${local()}) (i32.const ${below(9_000)}))`,
      () => "(memory.size)",
    ])();
  const anywhere = (): string => `(i32.and ${value()} (i32.const ${ADDRESSES}))`;
  const address = (): string =>
    pick(below, [
      () => `(local.get ${local()})`,
      () => `(local.get ${local()})`,
      () => `(local.get ${local()})`,
      () => (hasFrame ? "(local.get $f)" : `(local.get ${local()})`),
      () => (hasFrame ? `(local.tee ${local()} (local.get $f))` : `(local.get ${local()})`),
      () => `(local.tee ${local()} ${anywhere()})`,
      () => `(local.tee ${local()} (local.get ${local()}))`,
      () => `(local.tee ${local()} (i32.add (local.get ${local()}) (i32.const ${below(5_000)})))`,
      () => `(i32.add (local.get ${local()}) (i32.const ${below(5_000)}))`,
      () => `(i32.add (i32.const ${below(500)}) (local.get ${local()}))`,
      () => `(i32.or (local.get ${local()}) (i32.const ${below(64)}))`,
      () => `(i32.const ${below(ADDRESSES)})`,
      () => `(if (result i32) ${value()} (then ${anywhere()}) (else (local.get ${local()})))`,
      () => `(select (local.get ${local()}) (local.get ${local()}) ${value()})`,
      anywhere,
    ])();
  const store = (): string => {
    const offset = pick(below, OFFSETS);
    if (below(12) === 0) return `(v128.store32_lane offset=${offset} 2 ${address()} (v128.const i32x4 1 2 3 4))`;
    if (hasAtomics && below(12) === 0)
      return `(drop (i32.atomic.rmw.add offset=${offset & ~3} (i32.and ${address()} (i32.const -4)) ${value()}))`;
    if (hasAtomics && below(12) === 0)
      return `(drop (i32.atomic.rmw.cmpxchg offset=${offset & ~3} (i32.and ${address()} (i32.const -4)) ${value()} (i32.const 7)))`;
    const what = pick(below, STORES);
    const stored: Readonly<Record<string, string>> = {
      i32: value(),
      i64: `(i64.extend_i32_u ${value()})`,
      f32: `(f32.convert_i32_u ${value()})`,
      f64: `(f64.convert_i32_u ${value()})`,
      v128: `(i32x4.splat ${value()})`,
    };
    return `(${what} offset=${offset} ${address()} ${stored[what.split(".")[0] ?? ""]})`;
  };
  const bulk = (): string =>
    pick(below, [
      () => `(memory.fill ${address()} ${value()} (i32.const ${below(40_000)}))`,
      () => `(memory.copy ${address()} ${anywhere()} (i32.const ${below(40_000)}))`,
      () => `(memory.init $d ${address()} (i32.const 1) (i32.const ${below(9)}))`,
      () => `(drop (memory.grow (i32.const ${below(2)})))`,
    ])();
  const frame = (): string =>
    `(global.set $sp (local.tee $a (i32.sub (global.get $sp) (i32.const 64)))) ${store()} (global.set $sp (i32.add (local.get $a) (i32.const 64)))`;
  const statements = (depth: number): string => Array.from({ length: 1 + below(3) }, () => statement(depth)).join(" ");
  const statement = (depth: number): string => {
    switch (below(depth >= DEPTH ? 8 : 14)) {
      case 0:
        return `(local.set ${local()} ${anywhere()})`;
      case 1:
        return hasFrame && below(8) === 0
          ? `(local.set $f ${anywhere()})`
          : `(local.set ${local()} (local.get ${local()}))`;
      case 2:
        return below(4) === 0 ? bulk() : store();
      case 3:
        if (number < FUNCTIONS - 1 && below(6) === 0)
          return `(call $f${number + 1 + below(FUNCTIONS - number - 1)} ${anywhere()} ${anywhere()})`;
        return below(3) === 0 ? frame() : store();
      case 4:
        return depth > 0 && below(3) === 0 ? `(br_if $b${below(depth)} ${value()})` : store();
      case 5:
      case 6:
      case 7:
        return store();
      case 8:
      case 9:
        return `(block $b${depth} ${statements(depth + 1)})`;
      case 10:
      case 11:
        return `(block $b${depth} (if ${value()} (then ${statements(depth + 1)}) (else ${statements(depth + 1)})))`;
      default: {
        const counter = `$n${counters++}`;
        return `(local.set ${counter} (i32.const ${ROUNDS})) (block $b${depth} (loop $l${depth} ${statements(depth + 1)}
          (br_if $l${depth} (local.tee ${counter} (i32.sub (local.get ${counter}) (i32.const 1))))))`;
      }
    }
  };
  const prologue = "(global.set $sp (local.tee $f (i32.sub (global.get $sp) (i32.const 64))))";
  const body = hasFrame ? `${statements(0)} ${prologue} ${statements(0)} ${statements(0)}` : statements(0);
  const all = [
    ...LOCALS.slice(2),
    ...(hasFrame ? ["$f"] : []),
    ...Array.from({ length: counters }, (_, each) => `$n${each}`),
  ];
  return `(func $f${number} (export "f${number}") (param $p i32) (param $q i32) ${all.map((name) => `(local ${name} i32)`).join(" ")} ${body})`;
}
