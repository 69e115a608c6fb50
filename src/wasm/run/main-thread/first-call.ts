/**
 * Decides how soon a module's policies may run on the main thread. An instance of a small module takes microseconds. Of a large one it may take long
 * whatever the guest does, and the engine compiles a function when it is first called, on the thread that calls it: 1 MB a 20 ms or so.
 */
import { LIMITS_HAVE_MAXIMUM, Reader, skipValueType } from "../../rewrite/binary/reader.js";
import { readSections, SECTION_CODE, SECTION_TABLE, SECTION_TYPE } from "../../rewrite/binary/sections.js";
import type { GuestMemory } from "../../rewrite/binary/types.js";
import { readTypes } from "../../rewrite/binary/types.js";

/** Bytes of code of a module that may run on the main thread from its first call: all of it is compiled in 10 ms. */
const SMALL_CODE_BYTES = 512 * 1024;
/** Bytes of code of a module that may ever run there: compiling all of it takes no more than a tenth of a second. */
const LARGEST_CODE_BYTES = 4 * 1024 * 1024;
/** Bytes of one function. */
const LARGEST_FUNCTION_BYTES = 512 * 1024;
/** Pages of its memory at the start. It is wiped after every call, 10 to 20 microseconds a MiB. */
const LARGEST_MEMORY_PAGES = 80;
/** The same for a module that marks its writes: only these are wiped. */
const LARGEST_MARKED_PAGES = 512;
/** Entries of its table, which is filled for every instance. */
const LARGEST_TABLE = 20_000;
/** Parameters and results of a function together. */
const MOST_VALUES = 64;
/** Short calls on threads that a policy needs when its module is not small: its usual functions are compiled then. */
const PROOF = 4;

/**
 * Short calls on threads that a policy needs before one runs on the main thread; Infinity: none ever does.
 * @param bytes the module; it has been read before, and is valid
 * @param isMarked whether it marks its writes
 */
export function shortCallsBefore(bytes: Uint8Array, memory: GuestMemory | undefined, isMarked = false): number {
  if ((memory?.initial ?? 0) > (isMarked ? LARGEST_MARKED_PAGES : LARGEST_MEMORY_PAGES))
    return Number.POSITIVE_INFINITY;
  let code = 0;
  for (const { id, body } of readSections(bytes)) {
    if (id === SECTION_TYPE && !hasPlainTypes(body)) return Number.POSITIVE_INFINITY;
    if (id === SECTION_TABLE && entriesOf(body) > LARGEST_TABLE) return Number.POSITIVE_INFINITY;
    if (id !== SECTION_CODE) continue;
    code = body.length;
    if (code > LARGEST_CODE_BYTES || largestFunction(body) > LARGEST_FUNCTION_BYTES) return Number.POSITIVE_INFINITY;
  }
  return code <= SMALL_CODE_BYTES ? 0 : PROOF;
}

/**
 * Whether all types are of functions with no more than this many values: the engine takes time for each of them at every branch. Garbage-collected
 * objects have no limit but the process's memory.
 */
function hasPlainTypes(body: Uint8Array): boolean {
  const { types, complete } = readTypes(body);
  return (
    complete && types.every((type) => type !== undefined && type.parameters.length + type.results.length <= MOST_VALUES)
  );
}

/** Entries that all tables start with. @param body of a table section */
function entriesOf(body: Uint8Array): number {
  const reader = new Reader(body, 0);
  let entries = 0;
  for (let left = reader.unsigned(); left > 0; left--) {
    skipValueType(reader);
    const flags = reader.byte();
    entries += reader.unsigned();
    if (flags & LIMITS_HAVE_MAXIMUM) reader.unsigned();
  }
  return entries;
}

/** Bytes of the largest function. @param body of a code section */
function largestFunction(body: Uint8Array): number {
  const reader = new Reader(body, 0);
  let largest = 0;
  for (let left = reader.unsigned(); left > 0; left--) {
    const { length } = reader.bytes(reader.unsigned());
    if (length > largest) largest = length;
  }
  return largest;
}
