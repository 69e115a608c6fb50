/** The types of the functions that a module exports, read from its bytes: the engine tells only their names. */
import { HEADER, Reader, skipImportDescription, skipValueType } from "./reader.js";

const SECTION_TYPE = 1;
const SECTION_IMPORT = 2;
const SECTION_FUNCTION = 3;
const SECTION_EXPORT = 7;

const KIND_FUNCTION = 0;

/** How the types of the type section begin (those beyond functions came with garbage collection). */
const RECURSIVE_GROUP = 0x4e;
const FINAL_SUBTYPE = 0x4f;
const SUBTYPE = 0x50;
const ARRAY = 0x5e;
const STRUCT = 0x5f;
const FUNCTION = 0x60;

const VALUE_TYPES: ReadonlyMap<number, string> = new Map([
  [0x7f, "i32"],
  [0x7e, "i64"],
  [0x7d, "f32"],
  [0x7c, "f64"],
  [0x7b, "v128"],
  [0x70, "funcref"],
  [0x6f, "externref"],
]);

/**
 * The exported functions of a module that the engine has compiled, each with its type as text, such as `(i32 i32) -> i32` or `() -> ()`.
 * @returns undefined in place of a type that is written in a way not known here
 * @throws WasmLoadError `wasm-invalid` when the sections don't hold together
 */
export function exportedFunctionTypes(bytes: Uint8Array): ReadonlyMap<string, string | undefined> {
  const reader = new Reader(bytes, HEADER.length);
  let types: readonly (string | undefined)[] = [];
  /** By function, the imported ones first, the index of its type. */
  const functions: number[] = [];
  const exported = new Map<string, string | undefined>();
  while (!reader.done) {
    const id = reader.byte();
    const section = new Reader(reader.bytes(reader.unsigned()), 0);
    if (id === SECTION_TYPE) types = readTypes(section);
    else if (id === SECTION_IMPORT) functions.push(...importedFunctions(section));
    else if (id === SECTION_FUNCTION)
      for (let left = section.unsigned(); left > 0; left--) functions.push(section.unsigned());
    else if (id === SECTION_EXPORT)
      for (let left = section.unsigned(); left > 0; left--) {
        const name = section.text();
        const kind = section.byte();
        const index = section.unsigned();
        if (kind === KIND_FUNCTION) exported.set(name, types[functions[index] ?? -1]);
      }
  }
  return exported;
}

function importedFunctions(section: Reader): number[] {
  const found: number[] = [];
  for (let left = section.unsigned(); left > 0; left--) {
    section.text();
    section.text();
    if (section.peek() === KIND_FUNCTION) {
      section.byte();
      found.push(section.unsigned());
    } else skipImportDescription(section);
  }
  return found;
}

/** The types by index, up to the first that is not known: nobody can tell where it ends. */
function readTypes(section: Reader): (string | undefined)[] {
  const types: (string | undefined)[] = [];
  for (let left = section.unsigned(); left > 0; left--) {
    let members = 1;
    if (section.peek() === RECURSIVE_GROUP) {
      section.byte();
      members = section.unsigned();
    }
    for (; members > 0; members--) if (!readType(section, types)) return types;
  }
  return types;
}

function readType(section: Reader, types: (string | undefined)[]): boolean {
  let form = section.byte();
  if (form === SUBTYPE || form === FINAL_SUBTYPE) {
    for (let supertypes = section.unsigned(); supertypes > 0; supertypes--) section.unsigned();
    form = section.byte();
  }
  if (form === FUNCTION) {
    const parameters = valueTypes(section);
    const results = valueTypes(section);
    types.push(`(${parameters.join(" ")}) -> ${results.length === 1 ? results[0] : `(${results.join(" ")})`}`);
    return true;
  }
  if (form !== ARRAY && form !== STRUCT) return false;
  types.push(undefined);
  for (let fields = form === STRUCT ? section.unsigned() : 1; fields > 0; fields--) {
    skipValueType(section);
    // Whether it can be changed.
    section.byte();
  }
  return true;
}

function valueTypes(section: Reader): string[] {
  const found: string[] = [];
  for (let left = section.unsigned(); left > 0; left--) {
    found.push(VALUE_TYPES.get(section.peek() ?? 0) ?? "ref");
    skipValueType(section);
  }
  return found;
}
