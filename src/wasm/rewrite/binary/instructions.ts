/**
 * All instructions that V8 accepts by default in Node.js 20 to 24, with their immediates: the core specification 3.0 (appendix "Index of
 * Instructions"), threads, and exceptions in their first form (try, catch, delegate, rethrow), which compilers still write.
 */

/** Kinds of immediates behind an opcode. */
export const IMMEDIATES = {
  /** No such instruction. */
  unknown: 0,
  none: 1,
  blockType: 2,
  /** One index of a kind that is not listed below: a label, a type, a table, a memory, a tag, a segment, a field. */
  index: 3,
  twoIndices: 4,
  labels: 5,
  functionIndex: 6,
  localIndex: 7,
  globalIndex: 8,
  memory: 9,
  /** A memory argument and a lane. */
  memoryLane: 10,
  integer: 11,
  byte: 12,
  fourBytes: 13,
  eightBytes: 14,
  sixteenBytes: 15,
  valueTypes: 16,
  heapType: 17,
  /** Flags, a label, two heap types. */
  cast: 18,
  /** A block type and clauses. */
  catches: 19,
} as const;

/** Bases of prefixed instructions' codes, behind the plain ones: the number behind the prefix is added. */
export const GC_BASE = 0x100;
export const MISC_BASE = 0x200;
export const SIMD_BASE = 0x300;
export const ATOMIC_BASE = 0x500;
/** The number of codes. */
export const CODES = 0x600;

/** Begin and end of a prefix' codes, by prefix byte less {@link FIRST_PREFIX}. */
export const FIRST_PREFIX = 0xfb;
export const LAST_PREFIX = 0xfe;
export const PREFIX_BASES = [GC_BASE, MISC_BASE, SIMD_BASE, ATOMIC_BASE, CODES] as const;

/** Codes that passes ask for by name. */
export const OP = {
  unreachable: 0x00,
  nop: 0x01,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  try: 0x06,
  catch: 0x07,
  throw: 0x08,
  rethrow: 0x09,
  throwRef: 0x0a,
  end: 0x0b,
  call: 0x10,
  callIndirect: 0x11,
  returnCall: 0x12,
  returnCallIndirect: 0x13,
  callRef: 0x14,
  returnCallRef: 0x15,
  delegate: 0x18,
  catchAll: 0x19,
  tryTable: 0x1f,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  tableGet: 0x25,
  tableSet: 0x26,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i32Eq: 0x46,
  i32LtS: 0x48,
  i32LtU: 0x49,
  i32GtU: 0x4b,
  i32LeS: 0x4c,
  i32GeS: 0x4e,
  i32GeU: 0x4f,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32And: 0x71,
  i32Shl: 0x74,
  i32ShrU: 0x76,
  drop: 0x1a,
  select: 0x1b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  i32Or: 0x72,
  i64Const: 0x42,
  i64ExtendI32U: 0xad,
  i64Or: 0x84,
  i64Sub: 0x7d,
  i64Shl: 0x86,
  i64Rotl: 0x89,
  i64ShrU: 0x88,
  i32WrapI64: 0xa7,
  refFunc: 0xd2,
  brOnNull: 0xd5,
  brOnNonNull: 0xd6,
  structNew: GC_BASE,
  structNewDefault: GC_BASE + 1,
  arrayNew: GC_BASE + 6,
  arrayNewDefault: GC_BASE + 7,
  arrayNewFixed: GC_BASE + 8,
  arrayNewData: GC_BASE + 9,
  arrayNewElem: GC_BASE + 10,
  arrayFill: GC_BASE + 16,
  arrayCopy: GC_BASE + 17,
  arrayInitData: GC_BASE + 18,
  arrayInitElem: GC_BASE + 19,
  brOnCast: GC_BASE + 24,
  brOnCastFail: GC_BASE + 25,
  memoryInit: MISC_BASE + 8,
  memoryCopy: MISC_BASE + 10,
  memoryFill: MISC_BASE + 11,
  tableInit: MISC_BASE + 12,
  tableCopy: MISC_BASE + 14,
  tableGrow: MISC_BASE + 15,
  tableFill: MISC_BASE + 17,
} as const;

/** A table by code with a 1 for every one. */
export const ALL_CODES: Readonly<Uint8Array> = new Uint8Array(CODES).fill(1);

/** A table by code with a 1 for each of these. */
export function codes(...wanted: readonly number[]): Readonly<Uint8Array> {
  const table = new Uint8Array(CODES);
  for (const code of wanted) table[code] = 1;
  return table;
}

type Row = readonly [from: number, to: number, immediates: number];

const I = IMMEDIATES;

const PLAIN: readonly Row[] = [
  [0x00, 0x01, I.none], // unreachable, nop
  [0x02, 0x04, I.blockType], // block, loop, if
  [0x05, 0x05, I.none], // else
  [0x06, 0x06, I.blockType], // try
  [0x07, 0x09, I.index], // catch, throw, rethrow
  [0x0a, 0x0b, I.none], // throw_ref, end
  [0x0c, 0x0d, I.index], // br, br_if
  [0x0e, 0x0e, I.labels], // br_table
  [0x0f, 0x0f, I.none], // return
  [0x10, 0x10, I.functionIndex], // call
  [0x11, 0x11, I.twoIndices], // call_indirect
  [0x12, 0x12, I.functionIndex], // return_call
  [0x13, 0x13, I.twoIndices], // return_call_indirect
  [0x14, 0x15, I.index], // call_ref, return_call_ref
  [0x18, 0x18, I.index], // delegate
  [0x19, 0x1b, I.none], // catch_all, drop, select
  [0x1c, 0x1c, I.valueTypes], // select with types
  [0x1f, 0x1f, I.catches], // try_table
  [0x20, 0x22, I.localIndex],
  [0x23, 0x24, I.globalIndex],
  [0x25, 0x26, I.index], // table.get, table.set
  [0x28, 0x3e, I.memory], // loads and stores
  [0x3f, 0x40, I.index], // memory.size, memory.grow
  [0x41, 0x42, I.integer],
  [0x43, 0x43, I.fourBytes],
  [0x44, 0x44, I.eightBytes],
  [0x45, 0xc4, I.none], // comparisons, arithmetic, conversions, sign extension
  [0xd0, 0xd0, I.heapType], // ref.null
  [0xd1, 0xd1, I.none], // ref.is_null
  [0xd2, 0xd2, I.functionIndex], // ref.func
  [0xd3, 0xd4, I.none], // ref.eq, ref.as_non_null
  [0xd5, 0xd6, I.index], // br_on_null, br_on_non_null
];

const GC: readonly Row[] = [
  [0, 1, I.index], // struct.new, struct.new_default
  [2, 5, I.twoIndices], // struct.get, get_s, get_u, set
  [6, 7, I.index], // array.new, array.new_default
  [8, 10, I.twoIndices], // array.new_fixed, new_data, new_elem
  [11, 14, I.index], // array.get, get_s, get_u, set
  [15, 15, I.none], // array.len
  [16, 16, I.index], // array.fill
  [17, 19, I.twoIndices], // array.copy, init_data, init_elem
  [20, 23, I.heapType], // ref.test, ref.cast
  [24, 25, I.cast], // br_on_cast, br_on_cast_fail
  [26, 30, I.none], // conversions, i31
];

const MISC: readonly Row[] = [
  [0, 7, I.none], // saturating truncation
  [8, 8, I.twoIndices], // memory.init
  [9, 9, I.index], // data.drop
  [10, 10, I.twoIndices], // memory.copy
  [11, 11, I.index], // memory.fill
  [12, 12, I.twoIndices], // table.init
  [13, 13, I.index], // elem.drop
  [14, 14, I.twoIndices], // table.copy
  [15, 17, I.index], // table.grow, size, fill
];

const SIMD: readonly Row[] = [
  [0x00, 0x0b, I.memory],
  [0x0c, 0x0d, I.sixteenBytes], // v128.const, i8x16.shuffle
  [0x0e, 0x14, I.none],
  [0x15, 0x22, I.byte], // extract and replace lanes
  [0x23, 0x53, I.none],
  [0x54, 0x5b, I.memoryLane],
  [0x5c, 0x5d, I.memory],
  [0x5e, 0xff, I.none],
  [0x100, 0x113, I.none], // relaxed SIMD
];

/** Numbers that the SIMD proposal leaves out. */
const NO_SIMD = [0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3];
const NO_SIMD_EITHER = [0xd4, 0xe2, 0xee];

const ATOMIC: readonly Row[] = [
  [0x00, 0x02, I.memory], // notify, wait
  [0x03, 0x03, I.byte], // fence
  [0x10, 0x4e, I.memory],
];

/** Immediates by code: one of {@link IMMEDIATES}. */
export const IMMEDIATES_OF: Readonly<Uint8Array> = tabulate();

function tabulate(): Uint8Array {
  const table = new Uint8Array(CODES);
  const rows: readonly (readonly [number, readonly Row[]])[] = [
    [0, PLAIN],
    [GC_BASE, GC],
    [MISC_BASE, MISC],
    [SIMD_BASE, SIMD],
    [ATOMIC_BASE, ATOMIC],
  ];
  for (const [base, group] of rows)
    for (const [from, to, immediates] of group) table.fill(immediates, base + from, base + to + 1);
  for (const number of [...NO_SIMD, ...NO_SIMD_EITHER]) table[SIMD_BASE + number] = I.unknown;
  return table;
}
