/**
 * Changes a module's binary before it is compiled: limits of its memory and its tables, and the owner of its memory. Everything else is copied byte
 * for byte, except unused custom sections.
 */
import { WasmLoadError } from "../../errors.js";
import { HEADER, IMPORT_MEMORY, LIMITS_HAVE_MAXIMUM, Reader, skipImportDescription, skipValueType } from "./reader.js";
import { requireHeader, SECTION_CUSTOM, SECTION_IMPORT, SECTION_MEMORY, SECTION_TABLE } from "./sections.js";
import type { GuestMemory } from "./types.js";
import { Writer } from "./writer.js";

/** The first byte of a table that has an initial value. */
const TABLE_WITH_VALUE = 0x40;
/** Most entries of a table: a Go program of 20 MB has fifty thousand; an entry takes some ten bytes of the host's memory. */
const TABLE_ENTRIES = 1_000_000;

/** The body of a section that has no entries. */
const NO_ENTRIES = new Uint8Array([0]);

/** The changes. */
export interface Rewrite {
  /** Most pages (64 KiB each) that the module's own memory may grow to. */
  readonly maximumPages: number;
  /**
   * Gives the module's own memory to the host: it becomes an import of this name. The host can then wipe it and use it for the next instance;
   * a new memory for each costs a garbage collection every few dozen instances, seven times the price of the instance itself.
   */
  readonly importMemoryAs?: { readonly module: string; readonly name: string };
  /** Most bytes of custom sections by their names; larger ones, and others, are left out. Absent: all are kept. */
  readonly customSections?: Readonly<Record<string, number>>;
}

/** A changed module. */
export interface Rewritten {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The memory that it now imports, if any; `maximum` is the smaller one of its own maximum and the limit. */
  readonly importedMemory?: GuestMemory;
}

/**
 * The content of the first custom section of that name, found without compiling the module.
 * @throws WasmLoadError `wasm-invalid` when the bytes are not a module
 */
export function customSection(bytes: Uint8Array, name: string): Uint8Array | undefined {
  requireHeader(bytes);
  const reader = new Reader(bytes, HEADER.length);
  while (!reader.done) {
    const id = reader.byte();
    const body = reader.bytes(reader.unsigned());
    if (id !== 0) continue;
    const section = new Reader(body, 0);
    if (section.text() === name) return body.subarray(section.position);
  }
  return undefined;
}

/**
 * Applies `rewrite` to a module.
 * @throws WasmLoadError `wasm-invalid` when the bytes are not a module, `wasm-memory` when its memory can't be limited.
 */
export function rewriteModule(bytes: Uint8Array, rewrite: Rewrite): Rewritten {
  requireHeader(bytes);
  const reader = new Reader(bytes, HEADER.length);
  const sections: { id: number; body: Uint8Array }[] = [];
  while (!reader.done) {
    const id = reader.byte();
    sections.push({ id, body: reader.bytes(reader.unsigned()) });
  }
  const memorySection = sections.find(({ id }) => id === SECTION_MEMORY);
  const memory = memorySection && readMemory(memorySection.body, rewrite.maximumPages);
  const out = new Writer();
  out.raw(HEADER);
  const given = memory && rewrite.importMemoryAs && encodeMemoryImport(rewrite.importMemoryAs, memory);
  // A module without imports gets the section in its order: before the first one that must follow it.
  let givenWritten = given === undefined;
  for (const { id, body } of sections) {
    if (given && !givenWritten && id >= SECTION_IMPORT) {
      out.section(SECTION_IMPORT, withImport(id === SECTION_IMPORT ? body : NO_ENTRIES, given));
      givenWritten = true;
      if (id === SECTION_IMPORT) continue;
    }
    if (id === SECTION_CUSTOM && !isKept(body, rewrite.customSections)) continue;
    if (id === SECTION_TABLE) out.section(id, limitTables(body));
    else if (id !== SECTION_MEMORY || !memory) out.section(id, body);
    else if (!given) out.section(id, encodeMemory(memory));
  }
  const imports = sections.find(({ id }) => id === SECTION_IMPORT);
  const importedMemory = given ? memory : imports && readImportedMemory(imports.body, rewrite.maximumPages);
  return { bytes: out.finish(), ...(importedMemory && { importedMemory }) };
}

function isKept(body: Uint8Array, kept: Rewrite["customSections"]): boolean {
  if (kept === undefined) return true;
  const most = new Map(Object.entries(kept)).get(new Reader(body, 0).text());
  return most !== undefined && body.length <= most;
}

function readMemory(body: Uint8Array, ceiling: number): GuestMemory | undefined {
  const reader = new Reader(body, 0);
  const count = reader.unsigned();
  if (count === 0) return undefined;
  if (count > 1)
    throw new WasmLoadError("wasm-memory", "the module defines more than one memory, which the host can't limit");
  return readShape(reader, ceiling);
}

/** Limits every table: its entries take the host's memory, beyond any page limit. */
function limitTables(body: Uint8Array): Uint8Array {
  const reader = new Reader(body, 0);
  const out = new Writer();
  const count = reader.unsigned();
  out.unsigned(count);
  for (let index = 0; index < count; index++) {
    const start = reader.position;
    skipValueType(reader);
    const type = reader.slice(start);
    // A table with an initial value for its entries has another first byte; no compiler in use makes one.
    if (type[0] === TABLE_WITH_VALUE)
      throw new WasmLoadError("wasm-memory", "the module has a table with an initial value");
    const flags = reader.byte();
    const initial = reader.unsigned();
    const declared = flags & LIMITS_HAVE_MAXIMUM ? reader.unsigned() : TABLE_ENTRIES;
    if (initial > TABLE_ENTRIES)
      throw new WasmLoadError(
        "wasm-memory",
        `the module's table starts with ${initial} entries and the limit is ${TABLE_ENTRIES}`,
      );
    out.raw(type);
    encodeLimits(out, { initial, maximum: Math.min(declared, TABLE_ENTRIES) });
  }
  return out.finish();
}

function readImportedMemory(body: Uint8Array, ceiling: number): GuestMemory | undefined {
  const reader = new Reader(body, 0);
  for (let left = reader.unsigned(); left > 0; left--) {
    reader.text();
    reader.text();
    if (reader.peek() === IMPORT_MEMORY) {
      reader.byte();
      return readShape(reader, ceiling);
    }
    skipImportDescription(reader);
  }
  return undefined;
}

function readShape(reader: Reader, ceiling: number): GuestMemory {
  const flags = reader.byte();
  if ((flags & ~LIMITS_HAVE_MAXIMUM) !== 0)
    throw new WasmLoadError("wasm-memory", "the module's memory is shared or 64-bit, which the host doesn't offer");
  const initial = reader.unsigned();
  const declared = flags & LIMITS_HAVE_MAXIMUM ? reader.unsigned() : ceiling;
  if (initial > ceiling)
    throw new WasmLoadError(
      "wasm-memory",
      `the module needs ${initial} pages of memory to start and the limit is ${ceiling}; raise the memory limit to run it`,
    );
  return { initial, maximum: Math.min(declared, ceiling) };
}

function encodeMemory(memory: GuestMemory): Uint8Array {
  const out = new Writer();
  out.unsigned(1);
  encodeLimits(out, memory);
  return out.finish();
}

function encodeMemoryImport({ module, name }: { module: string; name: string }, memory: GuestMemory): Uint8Array {
  const out = new Writer();
  out.text(module);
  out.text(name);
  out.raw([IMPORT_MEMORY]);
  encodeLimits(out, memory);
  return out.finish();
}

function encodeLimits(out: Writer, { initial, maximum }: GuestMemory): void {
  out.raw([LIMITS_HAVE_MAXIMUM]);
  out.unsigned(initial);
  out.unsigned(maximum);
}

/** @param given one more import, encoded */
function withImport(body: Uint8Array, given: Uint8Array): Uint8Array {
  const out = new Writer();
  const reader = new Reader(body, 0);
  out.unsigned(reader.unsigned() + 1);
  out.raw(body.subarray(reader.position));
  out.raw(given);
  return out.finish();
}
