/** The functions that metering adds to a module, and the sequences that it inserts between the module's own instructions. */
import { OP } from "../binary/instructions.js";
import type { Writer } from "../binary/writer.js";
import { writeShortCopy } from "./short-copy.js";

/** The import module of the function that refills a metered module's fuel. */
export const METER_MODULE = "policy-group-gateway:host";
export const REFILL = "refill";

/** Bytes of the longest bulk operation on memory that its weight pays for: checking its length takes less than charging it. */
export const PAID_BYTES = 1_024;

/** Bytes moved per unit, as a power of two: a processor copies 16 bytes faster than a simple instruction. */
const BYTES_SHIFT = 4;
/** References, or array fields, moved per unit, as a power of two: one or two in a simple instruction's time, with a barrier each. */
const ENTRIES_SHIFT = 1;
/** A new page costs 2^14 units, paid when it is requested: at first access the operating system finds and wipes sixteen pages of its own. */
const PAGES_SHIFT = 14;
/** More pages than a memory can have make a growth fail, at no cost. */
const MOST_PAGES = 65_536;

const I32 = 0x7f;
const EMPTY = 0x40;

/** Functions added behind the module's own, in this order. */
export const HELPERS = ["charge", "bytes", "entries", "pages", "copy"] as const;
export type Helper = (typeof HELPERS)[number];

/** Indices in the metered module. */
export interface MeterIndices {
  /** The imported function. */
  readonly refill: number;
  /** The first of {@link HELPERS}. */
  readonly helpers: number;
  readonly fuel: number;
  /** The global with the pages of the guest's memory, where they differ from the memory's own. */
  readonly size?: number;
  /** Whether the module has a memory, so that copies in it can be calls of a helper. */
  readonly hasMemory: boolean;
}

/** Types added behind the module's own, in this order. */
export const ADDED_TYPES: readonly (readonly number[])[] = [
  [0x60, 0, 1, I32], // refill
  [0x60, 0, 0], // charge
  [0x60, 1, I32, 1, I32], // the others
  [0x60, 3, I32, I32, I32, 0], // copy
];
export const REFILL_TYPE = 0;

/** The type of a helper among {@link ADDED_TYPES}. */
export function typeOfHelper(helper: Helper): number {
  if (helper === "charge") return 1;
  return helper === "copy" ? 3 : 2;
}

export function indexOfHelper({ helpers }: MeterIndices, helper: Helper): number {
  return helpers + HELPERS.indexOf(helper);
}

/** The helper that is called with a bulk operation's length before it runs. */
export const BULK: ReadonlyMap<number, Helper> = new Map([
  [OP.memoryInit, "bytes"],
  [OP.memoryCopy, "bytes"],
  [OP.memoryFill, "bytes"],
  [OP.tableInit, "entries"],
  [OP.tableCopy, "entries"],
  [OP.tableGrow, "entries"],
  [OP.tableFill, "entries"],
  [OP.arrayNew, "entries"],
  [OP.arrayNewDefault, "entries"],
  [OP.arrayNewData, "entries"],
  [OP.arrayNewElem, "entries"],
  [OP.arrayFill, "entries"],
  [OP.arrayCopy, "entries"],
  [OP.arrayInitData, "entries"],
  [OP.arrayInitElem, "entries"],
]);

/**
 * Positions in a function's body where a charge checks for used-up fuel. A hint says that it rarely is: otherwise the engine saves its registers for
 * the call in every round of a loop.
 */
export type Rarely = number[];

/** Writes the body of a helper, with its locals. */
export function writeHelper(out: Writer, helper: Helper, indices: MeterIndices): void {
  const { fuel, refill } = indices;
  if (helper === "charge") {
    // Refills until the fuel is not negative: a large operation must not begin before it is paid.
    out.raw([1, 1, I32]);
    out.raw([OP.loop, EMPTY]);
    out.instruction(OP.call, refill);
    out.raw([OP.localTee, 0, OP.i32Const, 0, OP.i32LeS, OP.if, EMPTY, OP.unreachable, OP.end]);
    out.instruction(OP.globalGet, fuel);
    out.raw([OP.localGet, 0, OP.i32Add]);
    out.instruction(OP.globalSet, fuel);
    out.instruction(OP.globalGet, fuel);
    out.raw([OP.i32Const, 0, OP.i32LtS, OP.brIf, 0, OP.end, OP.end]);
    return;
  }
  if (helper === "copy") {
    if (indices.hasMemory) writeShortCopy(out);
    else out.raw([0, OP.unreachable, OP.end]);
    return;
  }
  const { size } = indices;
  const grows = helper === "pages" && size !== undefined;
  out.raw(grows ? [1, 1, I32] : [0]);
  out.instruction(OP.globalGet, fuel);
  if (helper === "pages") {
    out.raw([OP.localGet, 0]);
    constant(out, MOST_PAGES);
    out.raw([OP.localGet, 0]);
    constant(out, MOST_PAGES);
    out.raw([OP.i32LtU, OP.select]);
    constant(out, PAGES_SHIFT);
    out.byte(OP.i32Shl);
  } else {
    // The length is unsigned; it is not negative after the shift.
    out.raw([OP.localGet, 0]);
    constant(out, helper === "bytes" ? BYTES_SHIFT : ENTRIES_SHIFT);
    out.byte(OP.i32ShrU);
  }
  out.byte(OP.i32Sub);
  out.instruction(OP.globalSet, fuel);
  out.instruction(OP.globalGet, fuel);
  writeIfBelowZero(out, []);
  out.instruction(OP.call, indexOfHelper(indices, "charge"));
  out.byte(OP.end);
  if (grows) writeGrowth(out, size);
  else out.raw([OP.localGet, 0]);
  out.byte(OP.end);
}

/** `memory.grow`, for a memory that may already have more pages than the guest sees; all of them are zeros. */
function writeGrowth(out: Writer, size: number): void {
  const [wanted, spare] = [0, 1];
  out.raw([OP.memorySize, 0]);
  out.instruction(OP.globalGet, size);
  out.raw([OP.i32Sub, OP.localTee, spare, OP.localGet, wanted, OP.i32LtU, OP.if, EMPTY]);
  out.raw([OP.localGet, wanted, OP.localGet, spare, OP.i32Sub, OP.memoryGrow, 0]);
  constant(out, -1);
  out.raw([OP.i32Eq, OP.if, EMPTY]);
  constant(out, -1);
  out.raw([OP.return, OP.end, OP.end]);
  out.instruction(OP.globalGet, size);
  out.raw([OP.localGet, wanted]);
  out.instruction(OP.globalGet, size);
  out.byte(OP.i32Add);
  out.instruction(OP.globalSet, size);
}

/**
 * `fuel -= units`, and a refill when it is used up.
 * @param scratch a scratch local: reading the fuel again from its global takes longer
 */
export function writeCharge(
  out: Writer,
  units: number,
  scratch: number | undefined,
  indices: MeterIndices,
  rarely: Rarely,
): void {
  out.instruction(OP.globalGet, indices.fuel);
  constant(out, units);
  out.byte(OP.i32Sub);
  if (scratch !== undefined) out.instruction(OP.localTee, scratch);
  out.instruction(OP.globalSet, indices.fuel);
  if (scratch === undefined) out.instruction(OP.globalGet, indices.fuel);
  else out.instruction(OP.localGet, scratch);
  writeIfBelowZero(out, rarely);
  out.instruction(OP.call, indexOfHelper(indices, "charge"));
  out.byte(OP.end);
}

/**
 * `kept -= units`, and a refill when it is used up, in a function that keeps the fuel in a local.
 * @param isFirst whether it is at the entry, where the fuel is first read from its global
 */
export function writeKeptCharge(
  out: Writer,
  units: number,
  kept: number,
  isFirst: boolean,
  indices: MeterIndices,
  rarely: Rarely,
): void {
  if (isFirst) out.instruction(OP.globalGet, indices.fuel);
  else out.instruction(OP.localGet, kept);
  constant(out, units);
  out.byte(OP.i32Sub);
  out.instruction(OP.localTee, kept);
  writeIfBelowZero(out, rarely);
  writeBack(out, kept, indices);
  out.instruction(OP.call, indexOfHelper(indices, "charge"));
  readBack(out, kept, indices);
  out.byte(OP.end);
}

/** `fuel = kept`, before other functions read it. */
export function writeBack(out: Writer, kept: number, indices: MeterIndices): void {
  out.instruction(OP.localGet, kept);
  out.instruction(OP.globalSet, indices.fuel);
}

/** `kept = fuel`, after other functions that may have used some. */
export function readBack(out: Writer, kept: number, indices: MeterIndices): void {
  out.instruction(OP.globalGet, indices.fuel);
  out.instruction(OP.localSet, kept);
}

/** `memory.copy` within the first memory, whose three operands are on top of the stack. */
export function writeCopy(out: Writer, indices: MeterIndices): void {
  out.instruction(OP.call, indexOfHelper(indices, "copy"));
}

/** Writes the number of pages of the guest's memory. */
export function writeSize(out: Writer, size: number): void {
  out.instruction(OP.globalGet, size);
}

/**
 * Charges for the length on top of the stack, which stays there.
 * @param scratch a scratch local, with which short lengths of bytes need no helper
 * @param kept the local with the function's fuel, if it has one
 */
export function writeBulkCharge(
  out: Writer,
  helper: Helper,
  scratch: number | undefined,
  kept: number | undefined,
  indices: MeterIndices,
  rarely: Rarely,
): void {
  const asks = helper === "bytes" && scratch !== undefined;
  if (asks) {
    out.instruction(OP.localTee, scratch);
    out.instruction(OP.localGet, scratch);
    constant(out, PAID_BYTES);
    out.byte(OP.i32GtU);
    rarely.push(out.length);
    out.raw([OP.if, EMPTY]);
    out.instruction(OP.localGet, scratch);
  }
  if (kept !== undefined) writeBack(out, kept, indices);
  out.instruction(OP.call, indexOfHelper(indices, helper));
  if (kept !== undefined) readBack(out, kept, indices);
  if (asks) out.raw([OP.drop, OP.end]);
}

function writeIfBelowZero(out: Writer, rarely: Rarely): void {
  out.raw([OP.i32Const, 0, OP.i32LtS]);
  rarely.push(out.length);
  out.raw([OP.if, EMPTY]);
}

function constant(out: Writer, value: number): void {
  out.byte(OP.i32Const);
  out.signed(value);
}
