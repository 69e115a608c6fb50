/** Weights of instructions. A unit is about one simple instruction. */
import { ATOMIC_BASE, CODES, GC_BASE, OP, SIMD_BASE } from "../binary/instructions.js";

/**
 * Most units of a function without loops, with its callees of the same kind, that has no charge of its own: the caller pays. Most of them take little
 * more time than the charge would.
 */
export const UNCHARGED_COST = 128;
/** Units of a host call: from WebAssembly to JavaScript and back takes some 20 ns, beside the host's work. */
export const HOST_CALL_COST = 64;
/** Units of a call with an unknown callee: its look-up, and the most units of a function without a charge. */
const INDIRECT_CALL_COST = 8 + UNCHARGED_COST;
/** Units of a throw, which takes the engine some microseconds: it makes an object, records the stack and looks for the handler. */
const THROW_COST = 2_000;

/** A bulk operation on memory: the engine is called, and copies up to `PAID_BYTES` for it. */
const PAID_BYTES_COST = 64;

/** Instructions beyond the usual: divisions, square roots, calls of the engine, allocations. */
const HEAVY: readonly (readonly [from: number, to: number, weight: number])[] = [
  [OP.throw, OP.throwRef, THROW_COST],
  [OP.callIndirect, OP.callIndirect, INDIRECT_CALL_COST],
  [OP.returnCallIndirect, OP.returnCallRef, INDIRECT_CALL_COST],
  [OP.tableGet, OP.tableSet, 32],
  [OP.memoryGrow, OP.memoryGrow, 512],
  [0x6d, 0x70, 8], // i32: division and remainder
  [0x7f, 0x82, 16], // i64: the same
  [0x91, 0x91, 8], // f32.sqrt
  [0x95, 0x95, 4], // f32.div
  [0x9f, 0x9f, 8], // f64.sqrt
  [0xa3, 0xa3, 4], // f64.div
  [OP.refFunc, OP.refFunc, 16],
  [GC_BASE, GC_BASE + 1, 32], // struct.new
  [OP.arrayNew, OP.arrayNewElem, 64],
  [GC_BASE + 18, GC_BASE + 25, 8], // casts
  [OP.memoryInit, OP.memoryFill, PAID_BYTES_COST],
  [OP.tableInit, OP.tableFill, 32],
  [SIMD_BASE, SIMD_BASE + 0x1ff, 2],
  [SIMD_BASE + 0xe3, SIMD_BASE + 0xe3, 16], // f32x4.sqrt
  [SIMD_BASE + 0xe7, SIMD_BASE + 0xe7, 8], // f32x4.div
  [SIMD_BASE + 0xef, SIMD_BASE + 0xef, 16], // f64x2.sqrt
  [SIMD_BASE + 0xf3, SIMD_BASE + 0xf3, 8], // f64x2.div
  [ATOMIC_BASE, CODES - 1, 16],
];

/** Instructions that only delimit code, and take no time. A loop is charged by its body. */
const FREE = [OP.nop, OP.block, OP.loop, OP.else, OP.try, OP.catch, OP.end, OP.delegate, OP.catchAll, OP.tryTable];

/** Units of one execution by code, without those of a callee, a bulk operation's length or a host function. */
export const WEIGHTS: Readonly<Uint16Array> = tabulate();

function tabulate(): Uint16Array {
  const table = new Uint16Array(CODES).fill(1);
  for (const [from, to, weight] of HEAVY) table.fill(weight, from, to + 1);
  for (const code of FREE) table[code] = 0;
  return table;
}
