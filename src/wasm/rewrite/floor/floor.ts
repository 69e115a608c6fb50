/** Where a guest's stack ends that it most likely never needs. */
import { InstructionWalker } from "../binary/instruction-walker.js";
import { OP } from "../binary/instructions.js";
import { Reader, skipValueType } from "../binary/reader.js";
import { bodyOf, readSections, SECTION_GLOBAL } from "../binary/sections.js";
import { BLOCK_BYTES, type MemorySnapshot, PAGE_BYTES } from "../snapshot/memory-snapshot.js";

/** A module whose code can't write below an address: it traps where it would. */
export interface Floor {
  /** A multiple of {@link BLOCK_BYTES}. */
  readonly address: number;
  /** The module without a floor, for calls that need what is below; compiled when it is first asked for. */
  readonly without: () => Promise<WebAssembly.Module>;
}

/** Bytes of its stack that a guest keeps: a policy in Rust that reads a Pod takes a few KiB. */
const KEPT_STACK = 64 * 1024;
/** Bytes below a floor that are worth one: they are looked through in some three microseconds. */
const LEAST_BELOW = 256 * 1024;
const I32 = 0x7f;

/**
 * A floor for a module that was made with its stack below its data, as compilers do by default: the stack begins at a constant, goes down from there, and no data is
 * below. Whether it was is unknown; if not, calls trap, and the module is used without a floor from then on.
 * @param image what its memory holds at first
 * @returns undefined when none is worth it
 */
export function floorFor(bytes: Uint8Array, image: MemorySnapshot): number | undefined {
  const end = image.runs[0]?.at ?? image.pages * PAGE_BYTES;
  const stacks = mutableIntegers(bytes).filter((value) => blockOf(value) <= end);
  const floor = blockOf(Math.max(0, ...stacks) - KEPT_STACK);
  return floor >= LEAST_BELOW ? floor : undefined;
}

const blockOf = (address: number): number => Math.floor(address / BLOCK_BYTES) * BLOCK_BYTES;

/** The first values of mutable globals of type i32, those that are constants, as addresses. */
function mutableIntegers(bytes: Uint8Array): readonly number[] {
  const body = bodyOf(readSections(bytes), SECTION_GLOBAL);
  if (!body) return [];
  const reader = new Reader(body, 0);
  const walker = new InstructionWalker(body, 0, body.length);
  const values: number[] = [];
  for (let left = reader.unsigned(); left > 0; left--) {
    const type = reader.peek();
    skipValueType(reader);
    const isMutable = reader.byte() === 1;
    walker.moveTo(reader.position, body.length);
    walker.next();
    const constant = walker.code === OP.i32Const ? new Reader(body, walker.start + 1).signed() >>> 0 : undefined;
    while (walker.code !== OP.end) walker.next();
    reader.position = walker.position;
    if (type === I32 && isMutable && constant !== undefined) values.push(constant);
  }
  return values;
}
