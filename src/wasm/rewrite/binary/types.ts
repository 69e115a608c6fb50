/** The type section: functions' parameters and results, and how many types there are. */
import { Reader, skipValueType } from "./reader.js";

/** First bytes of types in the type section (those beyond functions came with garbage collection). */
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

/** A function's type; its parts by name, `ref` for references of other types. */
export interface FunctionType {
  readonly parameters: readonly string[];
  readonly results: readonly string[];
}

/** The types of a module by their index. */
export interface Types {
  /** The types; undefined for one that is not a function's. */
  readonly types: readonly (FunctionType | undefined)[];
  /** False when one has an unknown form: its end is unknown, so it and the later ones are missing. */
  readonly complete: boolean;
}

/** @param body of a type section @throws WasmLoadError `wasm-invalid` */
export function readTypes(body: Uint8Array): Types {
  const section = new Reader(body, 0);
  const types: (FunctionType | undefined)[] = [];
  for (let left = section.unsigned(); left > 0; left--) {
    let members = 1;
    if (section.peek() === RECURSIVE_GROUP) {
      section.byte();
      members = section.unsigned();
    }
    for (; members > 0; members--) if (!readType(section, types)) return { types, complete: false };
  }
  return { types, complete: true };
}

function readType(section: Reader, types: (FunctionType | undefined)[]): boolean {
  let form = section.byte();
  if (form === SUBTYPE || form === FINAL_SUBTYPE) {
    for (let supertypes = section.unsigned(); supertypes > 0; supertypes--) section.unsigned();
    form = section.byte();
  }
  if (form === FUNCTION) {
    types.push({ parameters: valueTypes(section), results: valueTypes(section) });
    return true;
  }
  if (form !== ARRAY && form !== STRUCT) return false;
  types.push(undefined);
  for (let fields = form === STRUCT ? section.unsigned() : 1; fields > 0; fields--) {
    skipValueType(section);
    // The mutability.
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

/** Sizes of a memory, in pages. */
export interface GuestMemory {
  readonly initial: number;
  readonly maximum: number;
}
