/** The types of the functions that a module exports, read from its bytes: the engine reports only their names. */
import { HEADER, Reader } from "./reader.js";
import {
  KIND_FUNCTION,
  readImports,
  SECTION_EXPORT,
  SECTION_FUNCTION,
  SECTION_IMPORT,
  SECTION_TYPE,
} from "./sections.js";
import { type FunctionType, readTypes } from "./types.js";

/**
 * The exported functions of a module that the engine has compiled, each with its type as text, such as `(i32 i32) -> i32` or `() -> ()`.
 * @returns undefined in place of a type of unknown form
 * @throws WasmLoadError `wasm-invalid` when the sections are inconsistent
 */
export function exportedFunctionTypes(bytes: Uint8Array): ReadonlyMap<string, string | undefined> {
  const reader = new Reader(bytes, HEADER.length);
  let types: readonly (FunctionType | undefined)[] = [];
  /** By function, the imported ones first, the index of its type. */
  const functions: number[] = [];
  const exported = new Map<string, string | undefined>();
  while (!reader.done) {
    const id = reader.byte();
    const body = reader.bytes(reader.unsigned());
    const section = new Reader(body, 0);
    if (id === SECTION_TYPE) types = readTypes(body).types;
    else if (id === SECTION_IMPORT) for (const type of readImports(body).functions) functions.push(type);
    else if (id === SECTION_FUNCTION)
      for (let left = section.unsigned(); left > 0; left--) functions.push(section.unsigned());
    else if (id === SECTION_EXPORT)
      for (let left = section.unsigned(); left > 0; left--) {
        const name = section.text();
        const kind = section.byte();
        const index = section.unsigned();
        if (kind === KIND_FUNCTION) exported.set(name, typeText(types[functions[index] ?? -1]));
      }
  }
  return exported;
}

function typeText(type: FunctionType | undefined): string | undefined {
  if (!type) return undefined;
  const { parameters, results } = type;
  return `(${parameters.join(" ")}) -> ${results.length === 1 ? results[0] : `(${results.join(" ")})`}`;
}
