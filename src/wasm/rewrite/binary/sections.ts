/** The sections of a module: their numbers, their order, and the entries of the import section. */
import { WasmLoadError } from "../../errors.js";
import { describeNonModule } from "../../module/not-a-module.js";
import { HEADER, Reader, skipImportDescription } from "./reader.js";

export const SECTION_CUSTOM = 0;
export const SECTION_TYPE = 1;
export const SECTION_IMPORT = 2;
export const SECTION_FUNCTION = 3;
export const SECTION_TABLE = 4;
export const SECTION_MEMORY = 5;
export const SECTION_GLOBAL = 6;
export const SECTION_EXPORT = 7;
export const SECTION_START = 8;
export const SECTION_ELEMENT = 9;
export const SECTION_CODE = 10;
export const SECTION_DATA = 11;
export const SECTION_DATA_COUNT = 12;
export const SECTION_TAG = 13;

/** Kinds of imports and exports. */
export const KIND_FUNCTION = 0;
export const KIND_MEMORY = 2;
export const KIND_GLOBAL = 3;

/** The order of sections; custom ones may be anywhere. */
const ORDER = [
  SECTION_TYPE,
  SECTION_IMPORT,
  SECTION_FUNCTION,
  SECTION_TABLE,
  SECTION_MEMORY,
  SECTION_TAG,
  SECTION_GLOBAL,
  SECTION_EXPORT,
  SECTION_START,
  SECTION_ELEMENT,
  SECTION_DATA_COUNT,
  SECTION_CODE,
  SECTION_DATA,
] as const;

/** One section of the file. */
export interface Section {
  readonly id: number;
  readonly body: Uint8Array;
  /** Begin of the body in the file; -1: not in the file. */
  readonly at: number;
}

/** @throws WasmLoadError `wasm-invalid` when the bytes don't begin as a core WebAssembly module */
export function requireHeader(bytes: Uint8Array): void {
  if (HEADER.every((byte, index) => bytes[index] === byte)) return;
  throw new WasmLoadError("wasm-invalid", `invalid wasm file: ${describeNonModule(bytes)}`);
}

/**
 * The sections of a module.
 * @throws WasmLoadError `wasm-invalid` when they are inconsistent, unknown or not in order
 */
export function readSections(bytes: Uint8Array): readonly Section[] {
  requireHeader(bytes);
  const reader = new Reader(bytes, HEADER.length);
  const found: Section[] = [];
  let last = -1;
  while (!reader.done) {
    const id = reader.byte();
    const length = reader.unsigned();
    const at = reader.position;
    found.push({ id, body: reader.bytes(length), at });
    if (id === SECTION_CUSTOM) continue;
    const rank = rankOf(id);
    if (rank <= last)
      throw new WasmLoadError("wasm-invalid", `invalid wasm file: section ${id} is not known, or not in its place`);
    last = rank;
  }
  return found;
}

/** The body of a section that has no entries. */
export const NO_ENTRIES = Uint8Array.of(0);

/** The body of a section of this kind, if there is one. */
export function bodyOf(sections: readonly Section[], id: number): Uint8Array | undefined {
  return sections.find((section) => section.id === id)?.body;
}

/** The sections, with empty ones of these kinds where they are missing. */
export function withSections(sections: readonly Section[], ids: readonly number[]): readonly Section[] {
  const all = [...sections];
  for (const id of ids) {
    if (all.some((section) => section.id === id)) continue;
    const next = all.findIndex((section) => rankOf(section.id) > rankOf(id));
    all.splice(next < 0 ? all.length : next, 0, { id, body: NO_ENTRIES, at: -1 });
  }
  return all;
}

/** The rank of a section among the others, -1 when it is unknown. */
export function rankOf(id: number): number {
  return (ORDER as readonly number[]).indexOf(id);
}

/** Counts of a module's imports, by kinds that share an index space with its definitions. */
export interface ImportedCounts {
  /** The type index of each imported function. */
  readonly functions: readonly number[];
  readonly globals: number;
  readonly memories: number;
  /** The names of the modules that functions are imported from. */
  readonly functionModules: ReadonlySet<string>;
}

/** @param body of an import section @throws WasmLoadError `wasm-invalid` */
export function readImports(body: Uint8Array): ImportedCounts {
  const reader = new Reader(body, 0);
  const functions: number[] = [];
  const functionModules = new Set<string>();
  let globals = 0;
  let memories = 0;
  for (let left = reader.unsigned(); left > 0; left--) {
    const from = reader.text();
    reader.text();
    const kind = reader.peek();
    if (kind === KIND_FUNCTION) {
      reader.byte();
      functions.push(reader.unsigned());
      functionModules.add(from);
      continue;
    }
    if (kind === KIND_GLOBAL) globals++;
    if (kind === KIND_MEMORY) memories++;
    skipImportDescription(reader);
  }
  return { functions, globals, memories, functionModules };
}
