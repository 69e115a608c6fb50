/**
 * Gives the initial state of a module's instances to the host: its data segments become a snapshot, its start section a function that the host calls,
 * its mutable globals values that the host can read and set. So an instance can also start from a captured state. A reused memory can't shrink, so
 * the number of pages that the guest sees becomes a global, too.
 */

import { errorText } from "../../../data/error-text.js";
import { WasmLoadError } from "../../errors.js";
import { HIDDEN_PREFIX, START_NAME } from "../../names.js";
import { InstructionWalker } from "../binary/instruction-walker.js";
import { codes, GC_BASE, MISC_BASE, OP } from "../binary/instructions.js";
import { HEADER, Reader, skipValueType } from "../binary/reader.js";
import {
  readSections,
  SECTION_CODE,
  SECTION_DATA,
  SECTION_DATA_COUNT,
  SECTION_EXPORT,
  SECTION_START,
  type Section,
  withSections,
} from "../binary/sections.js";
import type { GuestMemory } from "../binary/types.js";
import { Writer } from "../binary/writer.js";
import type { IndexSpaces } from "../meter/segments.js";
import { Additions, addGlobalFunctions, addSize, mutableGlobals, ownSpaces } from "./globals.js";
import { imageOf, type MemorySnapshot, PAGE_BYTES, type Run } from "./memory-snapshot.js";

// State of an instance that its host can't read: a module whose code changes any of it can't be captured.

const STRUCT_SET = GC_BASE + 5;
const ARRAY_SET = GC_BASE + 14;
const DATA_DROP = MISC_BASE + 9;
const ELEMENT_DROP = MISC_BASE + 13;

/** The changed state, by instruction. */
const CHANGES: ReadonlyMap<number, string> = new Map([
  [OP.tableSet, "its tables"],
  [OP.tableInit, "its tables"],
  [OP.tableCopy, "its tables"],
  [OP.tableGrow, "its tables"],
  [OP.tableFill, "its tables"],
  [STRUCT_SET, "objects"],
  [ARRAY_SET, "objects"],
  [OP.arrayFill, "objects"],
  [OP.arrayCopy, "objects"],
  [OP.arrayInitData, "objects"],
  [OP.arrayInitElem, "objects"],
  [DATA_DROP, "its segments"],
  [ELEMENT_DROP, "its segments"],
]);

const CHANGING = codes(...CHANGES.keys());

/** @returns the reason why no state can be captured; undefined when all of it is in memory and globals */
function unseenState(sections: readonly Section[]): string | undefined {
  const code = sections.find(({ id }) => id === SECTION_CODE);
  if (!code) return undefined;
  try {
    const changed = firstChange(code.body);
    return changed === undefined ? undefined : `its code changes ${changed}`;
  } catch (error) {
    return errorText(error);
  }
}

function firstChange(body: Uint8Array): string | undefined {
  const reader = new Reader(body, 0);
  const walker = new InstructionWalker(body, 0, 0);
  for (let functions = reader.unsigned(); functions > 0; functions--) {
    const length = reader.unsigned();
    const end = reader.position + length;
    for (let groups = reader.unsigned(); groups > 0; groups--) {
      reader.unsigned();
      skipValueType(reader);
    }
    walker.moveTo(reader.position, end);
    if (walker.seek(CHANGING)) return CHANGES.get(walker.code);
    reader.position = end;
  }
  return undefined;
}

const NOTHING = new Uint8Array();
/** Kinds of data segments: active in memory 0, passive, active in a named memory. */
const ACTIVE = 0;
const PASSIVE = 1;
const ACTIVE_IN = 2;
const I32_CONST = 0x41;
const END = 0x0b;

/** A module whose initial state the host sets. */
export interface Extracted {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The content of the memory when an instance is made. Absent: the module has no memory, or writes its data itself to a memory of zeros. */
  readonly image?: MemorySnapshot;
  /** The reason why no state of its instances can be captured: they all start cold. */
  readonly coldBecause?: string;
  /** Its own index spaces, before additions. The first global behind its own has the number of pages of the guest's memory. Absent: nothing was added. */
  readonly own?: IndexSpaces;
}

/**
 * @param bytes a module whose memory is imported from the host
 * @param memory its shape, if it has one
 * @returns the unchanged module when its data must stay in it; the engine reports errors in such data when an instance is made
 * @throws WasmLoadError `wasm-invalid` when the sections are inconsistent, `wasm-exports` when it has names that are reserved for this server
 */
export function extractState(bytes: Uint8Array<ArrayBuffer>, memory: GuestMemory | undefined): Extracted {
  const sections = readSections(bytes);
  refuseHiddenNames(sections);
  if (!memory) return { bytes, coldBecause: "it has no memory" };
  const own = ownSpaces(sections);
  const additions = new Additions();
  const size = addSize(additions, memory.initial, own);
  const data = sections.find(({ id }) => id === SECTION_DATA);
  const writes = data ? readWrites(data.body, memory.initial * PAGE_BYTES) : [];
  if (!writes)
    return {
      bytes: written(sections, additions),
      own,
      coldBecause: "only its instance knows where its data segments go",
    };
  const image = imageOf(memory.initial, writes);
  const unseen = unseenState(sections);
  const globals = unseen ?? mutableGlobals(sections);
  if (typeof globals !== "string") addGlobalFunctions(additions, [...globals, size], sections, own);
  return {
    bytes: withoutState(sections, additions),
    own,
    image,
    ...(typeof globals === "string" && { coldBecause: globals }),
  };
}

/**
 * Writes of the segments, in order.
 * @returns undefined when the address of one is not constant, or outside of the memory
 */
function readWrites(body: Uint8Array, memoryBytes: number): Run[] | undefined {
  const reader = new Reader(body, 0);
  const writes: Run[] = [];
  for (let left = reader.unsigned(); left > 0; left--) {
    const kind = reader.unsigned();
    if (kind === PASSIVE) {
      reader.bytes(reader.unsigned());
      continue;
    }
    if (kind !== ACTIVE && !(kind === ACTIVE_IN && reader.unsigned() === 0)) return undefined;
    if (reader.byte() !== I32_CONST) return undefined;
    const at = reader.signed() >>> 0;
    if (reader.byte() !== END) return undefined;
    const bytes = reader.bytes(reader.unsigned());
    if (at + bytes.length > memoryBytes) return undefined;
    writes.push({ at, bytes });
  }
  return writes;
}

/** Refuses exports with names that are reserved for this server: they would be taken for its own. */
function refuseHiddenNames(sections: readonly Section[]): void {
  const section = sections.find(({ id }) => id === SECTION_EXPORT);
  if (!section) return;
  const reader = new Reader(section.body, 0);
  for (let left = reader.unsigned(); left > 0; left--) {
    const name = reader.text();
    if (name.startsWith(HIDDEN_PREFIX))
      throw new WasmLoadError("wasm-exports", `the module exports ${name}, and such names are this server's own`);
    reader.byte();
    reader.unsigned();
  }
}

/** The module without its data and its start section. */
function withoutState(sections: readonly Section[], additions: Additions): Uint8Array<ArrayBuffer> {
  const start = sections.find(({ id }) => id === SECTION_START);
  if (start) additions.export(START_NAME, new Reader(start.body, 0).unsigned());
  // Segments that code may refer to keep their numbers; without a count there is no such code.
  const keepsNumbers = sections.some(({ id }) => id === SECTION_DATA_COUNT);
  const left = sections.flatMap((section) => {
    if (section.id === SECTION_START) return [];
    if (section.id !== SECTION_DATA) return [section];
    return keepsNumbers ? [{ ...section, body: withEmptySegments(section.body) }] : [];
  });
  return written(left, additions);
}

/** A module of these sections, with additions. */
function written(sections: readonly Section[], additions: Additions): Uint8Array<ArrayBuffer> {
  const out = new Writer(sections.reduce((sum, { body }) => sum + body.length, 0));
  out.raw(HEADER);
  for (const { id, body } of withSections(sections, additions.sections)) out.section(id, additions.applyTo(id, body));
  return out.finish();
}

/** The data section with an empty passive segment in place of each active one, as the engine drops those when an instance has been made. */
function withEmptySegments(body: Uint8Array): Uint8Array {
  const reader = new Reader(body, 0);
  const out = new Writer();
  const count = reader.unsigned();
  out.unsigned(count);
  for (let left = count; left > 0; left--) {
    const kind = reader.unsigned();
    if (kind === ACTIVE_IN) reader.unsigned();
    if (kind !== PASSIVE) {
      reader.byte();
      reader.signed();
      reader.byte();
    }
    const bytes = reader.bytes(reader.unsigned());
    out.unsigned(PASSIVE);
    out.block(kind === PASSIVE ? bytes : NOTHING);
  }
  return out.finish();
}
