/**
 * Numbers of operands that instructions pop and push, where they do not depend on a type or a block (core specification 3.0, appendix "Validation
 * Algorithm").
 */
import { ATOMIC_BASE, CODES, MISC_BASE, SIMD_BASE } from "./instructions.js";

/** The numbers of operands that instructions pop and push. */
type Row = readonly [from: number, to: number, takes: number, leaves: number];

const PLAIN: readonly Row[] = [
  [0x01, 0x01, 0, 0], // nop
  [0x1a, 0x1a, 1, 0], // drop
  [0x1b, 0x1c, 3, 1], // select
  [0x20, 0x20, 0, 1], // local.get
  [0x21, 0x21, 1, 0], // local.set
  [0x22, 0x22, 1, 1], // local.tee
  [0x23, 0x23, 0, 1], // global.get
  [0x24, 0x24, 1, 0], // global.set
  [0x25, 0x25, 1, 1], // table.get
  [0x26, 0x26, 2, 0], // table.set
  [0x28, 0x35, 1, 1], // loads
  [0x36, 0x3e, 2, 0], // stores
  [0x3f, 0x3f, 0, 1], // memory.size
  [0x40, 0x40, 1, 1], // memory.grow
  [0x41, 0x44, 0, 1], // constants
  [0x45, 0x45, 1, 1], // i32: comparisons
  [0x46, 0x4f, 2, 1],
  [0x50, 0x50, 1, 1], // i64
  [0x51, 0x5a, 2, 1],
  [0x5b, 0x66, 2, 1], // floats
  [0x67, 0x69, 1, 1], // i32: arithmetic
  [0x6a, 0x78, 2, 1],
  [0x79, 0x7b, 1, 1], // i64
  [0x7c, 0x8a, 2, 1],
  [0x8b, 0x91, 1, 1], // f32
  [0x92, 0x98, 2, 1],
  [0x99, 0x9f, 1, 1], // f64
  [0xa0, 0xa6, 2, 1],
  [0xa7, 0xc4, 1, 1], // conversions, sign extension
  [0xd0, 0xd0, 0, 1], // ref.null
  [0xd1, 0xd1, 1, 1], // ref.is_null
  [0xd2, 0xd2, 0, 1], // ref.func
];

const MISC: readonly Row[] = [
  [0, 7, 1, 1], // saturating truncation
  [8, 8, 3, 0], // memory.init
  [9, 9, 0, 0], // data.drop
  [10, 12, 3, 0], // memory.copy, memory.fill, table.init
  [13, 13, 0, 0], // elem.drop
  [14, 14, 3, 0], // table.copy
  [15, 15, 2, 1], // table.grow
  [16, 16, 0, 1], // table.size
  [17, 17, 3, 0], // table.fill
];

/** Vector instructions that don't take two operands, as most do. */
const SIMD: readonly Row[] = [
  [0x00, 0x0a, 1, 1], // loads
  [0x0b, 0x0b, 2, 0], // v128.store
  [0x0c, 0x0c, 0, 1], // v128.const
  [0x0d, 0x0e, 2, 1], // shuffle, swizzle
  [0x0f, 0x16, 1, 1], // splats, extract_lane
  [0x17, 0x17, 2, 1], // replace_lane
  [0x18, 0x19, 1, 1],
  [0x1a, 0x1a, 2, 1],
  [0x1b, 0x1b, 1, 1],
  [0x1c, 0x1c, 2, 1],
  [0x1d, 0x1d, 1, 1],
  [0x1e, 0x1e, 2, 1],
  [0x1f, 0x1f, 1, 1],
  [0x20, 0x20, 2, 1],
  [0x21, 0x21, 1, 1],
  [0x22, 0x4c, 2, 1], // comparisons
  [0x4d, 0x4d, 1, 1], // not
  [0x4e, 0x51, 2, 1],
  [0x52, 0x52, 3, 1], // bitselect
  [0x53, 0x53, 1, 1], // any_true
  [0x54, 0x57, 2, 1], // load_lane
  [0x58, 0x5b, 2, 0], // store_lane
  [0x5c, 0x64, 1, 1],
  [0x65, 0x66, 2, 1],
  [0x67, 0x6a, 1, 1],
  [0x6b, 0x73, 2, 1],
  [0x74, 0x75, 1, 1],
  [0x76, 0x79, 2, 1],
  [0x7a, 0x7a, 1, 1],
  [0x7b, 0x7b, 2, 1],
  [0x7c, 0x81, 1, 1],
  [0x82, 0x82, 2, 1],
  [0x83, 0x84, 1, 1],
  [0x85, 0x86, 2, 1],
  [0x87, 0x8a, 1, 1],
  [0x8b, 0x93, 2, 1],
  [0x94, 0x94, 1, 1],
  [0x95, 0x9b, 2, 1],
  [0x9c, 0x9f, 2, 1],
  [0xa0, 0xa4, 1, 1],
  [0xa7, 0xaa, 1, 1],
  [0xab, 0xbf, 2, 1],
  [0xc0, 0xc4, 1, 1],
  [0xc7, 0xca, 1, 1],
  [0xcb, 0xdf, 2, 1],
  [0xe0, 0xe3, 1, 1],
  [0xe4, 0xeb, 2, 1],
  [0xec, 0xef, 1, 1],
  [0xf0, 0xf7, 2, 1],
  [0xf8, 0xff, 1, 1],
  [0x100, 0x100, 2, 1], // relaxed SIMD
  [0x101, 0x104, 1, 1],
  [0x105, 0x10c, 3, 1],
  [0x10d, 0x112, 2, 1],
  [0x113, 0x113, 3, 1],
];

const ATOMIC: readonly Row[] = [
  [0x00, 0x00, 2, 1], // notify
  [0x01, 0x02, 3, 1], // wait
  [0x03, 0x03, 0, 0], // fence
  [0x10, 0x16, 1, 1], // loads
  [0x17, 0x1d, 2, 0], // stores
  [0x1e, 0x47, 2, 1], // read, modify, write
  [0x48, 0x4e, 3, 1], // compare and exchange
];

/** Entry of {@link OPERANDS_OF} for an instruction whose operands depend on more than its code. */
export const DEPENDS = 0xff;
const LEAVES_SHIFT = 4;

/** Number of popped operands by code, with that of pushed ones shifted by four bits; or {@link DEPENDS}. */
export const OPERANDS_OF: Readonly<Uint8Array> = tabulate();

/** Popped operands of an entry of {@link OPERANDS_OF}. */
export const taken = (entry: number): number => entry & ((1 << LEAVES_SHIFT) - 1);
/** Pushed operands of an entry of {@link OPERANDS_OF}. */
export const left = (entry: number): number => entry >> LEAVES_SHIFT;

/** Entry of {@link STORES} for an instruction that is not a store. */
export const NO_STORE = 0xff;
/** Number of operands above the address, by code of an instruction that writes to memory; {@link NO_STORE} for all others. */
export const STORES: Readonly<Uint8Array> = tabulateStores();

function tabulate(): Uint8Array {
  const table = new Uint8Array(CODES).fill(DEPENDS);
  for (const [base, rows] of [
    [0, PLAIN],
    [MISC_BASE, MISC],
    [SIMD_BASE, SIMD],
    [ATOMIC_BASE, ATOMIC],
  ] as const)
    for (const [from, to, takes, leaves] of rows)
      table.fill((leaves << LEAVES_SHIFT) | takes, base + from, base + to + 1);
  return table;
}

function tabulateStores(): Uint8Array {
  const table = new Uint8Array(CODES).fill(NO_STORE);
  table.fill(1, 0x36, 0x3f);
  table[SIMD_BASE + 0x0b] = 1;
  table.fill(1, SIMD_BASE + 0x58, SIMD_BASE + 0x5c);
  table.fill(1, ATOMIC_BASE + 0x17, ATOMIC_BASE + 0x48);
  table.fill(2, ATOMIC_BASE + 0x48, ATOMIC_BASE + 0x4f);
  return table;
}
