/** Code sequences that mark a guest's writes, and the functions by which its host reads the marks. */
import { OP } from "../binary/instructions.js";
import type { Integers } from "../binary/integers.js";
import type { Writer } from "../binary/writer.js";
import { type Marking, REGIONS } from "./marking.js";
import { MARK, MARK_SIZE } from "./store-events.js";

const I32 = 0x7f;
const I64 = 0x7e;

/** Most regions that always count as written, because many stores have a constant address there: an allocator's lists, a heap's end. */
const MOST_ALWAYS = 4;
/** Share of such stores that makes a region one of them: one in this many. */
const ALWAYS_SHARE = 16;

/** The type of the function that marks a range; those that read marks take nothing and return an i32. */
export const RANGE_TYPE: readonly number[] = [0x60, 3, I32, I32, I32, 3, I32, I32, I32];

/** The marks of regions of one size. */
export interface MarkLevel {
  /** Bytes of a region, as a power of two. */
  readonly shift: number;
  /** The global that holds them, an i64. */
  readonly global: number;
  /** Bits that are always set. */
  readonly always: bigint;
}

/** Indices of a metered module's marks. */
export interface MarkIndices {
  /** Levels by size of regions, as in {@link Marking}. */
  readonly levels: readonly MarkLevel[];
  /** The function that marks a range. */
  readonly range: number;
}

/** @param global the global of the first level */
export const markLevels = (marks: Integers, { shifts }: Marking, global: number): readonly MarkLevel[] =>
  shifts.map((shift, number) => ({ shift, global: global + number, always: alwaysMarked(marks, shift) }));

/** The region of an address. */
const regionOf = (address: number, shift: number): number => (address >>> shift) % REGIONS;

/** The bits of regions that always count as written: the first one, and those of stores whose address is a constant. */
function alwaysMarked(marks: Integers, shift: number): bigint {
  const stores = new Int32Array(REGIONS);
  let all = 0;
  for (let at = 0; at < marks.length; at += MARK_SIZE) {
    if (marks.at(at + 1) !== MARK.address) continue;
    const region = regionOf(marks.at(at + 2), shift);
    stores[region] = (stores[region] ?? 0) + 1;
    all++;
  }
  const frequent = [...stores.entries()]
    .filter(([, count]) => count > 0 && count * ALWAYS_SHARE >= all)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_ALWAYS);
  return frequent.reduce((bits, [region]) => bits | (1n << BigInt(region)), 1n);
}

/** The marks' global with its initial value, as an entry of the global section. */
export function markGlobal(always: bigint): Uint8Array {
  return Uint8Array.from([I64, 1, OP.i64Const, ...signed64(always), OP.end]);
}

/**
 * Writes a mark.
 * @param scratch a local of type i32 for the value on top of the stack
 */
export function writeMark(
  out: Writer,
  mark: { readonly what: number; readonly value: number },
  levels: readonly MarkLevel[],
  scratch: number,
): void {
  if (mark.what === MARK.top) out.instruction(OP.localTee, scratch);
  for (const level of levels) writeLevel(out, mark, level, scratch);
}

function writeLevel(
  out: Writer,
  { what, value }: { readonly what: number; readonly value: number },
  { shift, global, always }: MarkLevel,
  scratch: number,
): void {
  if (what === MARK.all) {
    out.raw([OP.i64Const, ...signed64(-1n)]);
    out.instruction(OP.globalSet, global);
    return;
  }
  if (what === MARK.address) {
    const bit = 1n << BigInt(regionOf(value, shift));
    if (always & bit) return;
    out.instruction(OP.globalGet, global);
    out.raw([OP.i64Const, ...signed64(bit), OP.i64Or]);
    out.instruction(OP.globalSet, global);
    return;
  }
  const local = what === MARK.local ? value : scratch;
  out.instruction(OP.globalGet, global);
  out.raw([OP.i64Const, 1]);
  out.instruction(OP.localGet, local);
  if (what === MARK.top && value !== 0) {
    constant(out, value);
    out.byte(OP.i32Add);
  }
  constant(out, shift);
  out.raw([OP.i32ShrU, OP.i64ExtendI32U, OP.i64Shl, OP.i64Or]);
  out.instruction(OP.globalSet, global);
}

/** Marks the range of a bulk operation, whose three operands are on top of the stack, and stay there. */
export function writeRangeMark(out: Writer, { range }: MarkIndices): void {
  out.instruction(OP.call, range);
}

/** Writers of the functions that marking adds behind those of the meter, with their locals: the one for ranges, and two of each level that read its marks. */
export const markHelpers = (levels: readonly MarkLevel[]): readonly ((out: Writer) => void)[] => [
  (out) => writeRangeHelper(out, levels),
  ...levels.flatMap((level) => [(out: Writer) => writeLow(out, level), (out: Writer) => writeHigh(out, level)]),
];

/** (destination, anything, length): marks all regions from that of the first byte to that of the last one; all bits if there are more regions than bits. */
function writeRangeHelper(out: Writer, levels: readonly MarkLevel[]): void {
  out.raw([1, 1, I32]);
  for (const { shift, global } of levels) {
    out.raw([OP.localGet, 0, OP.localGet, 2, OP.i32Add]);
    constant(out, shift);
    out.raw([OP.i32ShrU, OP.localGet, 0]);
    constant(out, shift);
    out.raw([OP.i32ShrU, OP.i32Sub, OP.localTee, 3]);
    constant(out, REGIONS - 1);
    out.raw([OP.i32LtU, OP.if, I64]);
    // Two to the power of one more than the last bit, less one, in two steps: 64 bits can't be shifted by 64.
    out.raw([OP.i64Const, 2, OP.localGet, 3, OP.i64ExtendI32U, OP.i64Shl, OP.i64Const, 1, OP.i64Sub]);
    out.raw([OP.localGet, 0]);
    constant(out, shift);
    out.raw([OP.i32ShrU, OP.i64ExtendI32U, OP.i64Rotl, OP.else, OP.i64Const, ...signed64(-1n), OP.end]);
    out.instruction(OP.globalGet, global);
    out.byte(OP.i64Or);
    out.instruction(OP.globalSet, global);
  }
  out.raw([OP.localGet, 0, OP.localGet, 1, OP.localGet, 2, OP.end]);
}

function writeLow(out: Writer, { global }: MarkLevel): void {
  out.byte(0);
  out.instruction(OP.globalGet, global);
  out.raw([OP.i32WrapI64, OP.end]);
}

/** Writes the reader of the upper half, which is read last and also resets all marks. */
function writeHigh(out: Writer, { global, always }: MarkLevel): void {
  out.byte(0);
  out.instruction(OP.globalGet, global);
  out.raw([OP.i64Const, REGIONS / 2, OP.i64ShrU]);
  out.raw([OP.i32WrapI64, OP.i64Const, ...signed64(always)]);
  out.instruction(OP.globalSet, global);
  out.byte(OP.end);
}

function constant(out: Writer, value: number): void {
  out.byte(OP.i32Const);
  out.signed(value);
}

/** LEB128 of 64 bits, which are taken as signed. */
function signed64(bits: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asIntN(64, bits);
  for (;;) {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    const isLast = (rest === 0n && byte < 0x40) || (rest === -1n && byte >= 0x40);
    bytes.push(isLast ? byte : byte | 0x80);
    if (isLast) return bytes;
  }
}
