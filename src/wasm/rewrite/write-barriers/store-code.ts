/** Immediates of instructions that the search for stores reads. */
import type { InstructionWalker } from "../binary/instruction-walker.js";
import { OP, SIMD_BASE } from "../binary/instructions.js";
import { Reader } from "../binary/reader.js";
import type { FunctionType } from "../binary/types.js";

/** Set in a memory argument's alignment when the memory's index follows. */
const HAS_MEMORY_INDEX = 0x40;
const EMPTY_BLOCK = 0x40;
/** A block type below is an index, above a value type. */
const FIRST_VALUE_TYPE = 0x40;
const LEB_CONTINUES = 0x80;

/** Error of code that can't be followed. */
export class UnknownCode extends Error {}

/** The value of an `i32.const`. */
export function constantAt(bytes: Uint8Array, start: number): number {
  return new Reader(bytes, start + 1).signed();
}

/**
 * The static offset of a store.
 * @throws UnknownCode when it writes to another memory than the first
 */
export function offsetAt(bytes: Uint8Array, { start, code }: InstructionWalker): number {
  const reader = new Reader(bytes, start + 1);
  if (code >= SIMD_BASE) reader.unsigned();
  if (reader.unsigned() & HAS_MEMORY_INDEX) throw new UnknownCode();
  return reader.unsigned();
}

/** Whether a bulk operation writes to another memory than the first. */
export function writesElsewhere(bytes: Uint8Array, { code, index, indexAt }: InstructionWalker): boolean {
  if (code !== OP.memoryInit) return index !== 0;
  const reader = new Reader(bytes, indexAt);
  reader.unsigned();
  return reader.unsigned() !== 0;
}

const NOTHING: FunctionType = { parameters: [], results: [] };
const ONE: FunctionType = { parameters: [], results: ["any"] };

/** The operands that a block pops and pushes. @throws UnknownCode */
export function blockTypeAt(
  bytes: Uint8Array,
  { start }: InstructionWalker,
  types: readonly (FunctionType | undefined)[],
): FunctionType {
  const first = bytes[start + 1] ?? EMPTY_BLOCK;
  if (first === EMPTY_BLOCK) return NOTHING;
  if (first > FIRST_VALUE_TYPE && first < LEB_CONTINUES) return ONE;
  return known(types[new Reader(bytes, start + 1).unsigned()]);
}

/** @throws UnknownCode for an unknown type */
export function known(type: FunctionType | undefined): FunctionType {
  if (!type) throw new UnknownCode();
  return type;
}
