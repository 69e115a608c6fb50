/** A module's mutable globals, and the functions by which its host reads and sets them. */

import { GET_GLOBALS_NAME, SET_GLOBALS_NAME } from "../../names.js";
import { InstructionWalker } from "../binary/instruction-walker.js";
import { OP } from "../binary/instructions.js";
import { Reader, skipValueType } from "../binary/reader.js";
import {
  bodyOf,
  KIND_FUNCTION,
  NO_ENTRIES,
  readImports,
  SECTION_CODE,
  SECTION_EXPORT,
  SECTION_FUNCTION,
  SECTION_GLOBAL,
  SECTION_IMPORT,
  SECTION_TYPE,
  type Section,
} from "../binary/sections.js";
import { readTypes } from "../binary/types.js";
import { Writer } from "../binary/writer.js";
import type { IndexSpaces } from "../meter/segments.js";

/** Most globals that are set before a call: a Go program has eight, a program of AssemblyScript ten; each costs some nanoseconds. */
const MOST_GLOBALS = 64;

const FUNCTION_TYPE = 0x60;
const NO_LOCALS = 0;

/** The conversion of a number type for the host and back: a float as the integer with its bits, because JavaScript does not keep those of all NaNs. */
interface Passed {
  /** The type in which the host sees it. */
  readonly as: number;
  /** The instruction that converts the value to that type, if it differs. */
  readonly out?: number;
  /** The instruction that converts it back. */
  readonly back?: number;
}

const I32 = 0x7f;
const I64 = 0x7e;
const PASSED: ReadonlyMap<number, Passed> = new Map([
  [I32, { as: I32 }],
  [I64, { as: I64 }],
  // f32, by i32.reinterpret_f32 and f32.reinterpret_i32.
  [0x7d, { as: I32, out: 0xbc, back: 0xbe }],
  // f64, by i64.reinterpret_f64 and f64.reinterpret_i64.
  [0x7c, { as: I64, out: 0xbd, back: 0xbf }],
]);

/** A global that code can change. */
export interface MutableGlobal {
  readonly index: number;
  readonly passed: Passed;
}

/** @returns the module's own mutable globals in order, or the reason why they can't be read and set */
export function mutableGlobals(sections: readonly Section[]): readonly MutableGlobal[] | string {
  const body = bodyOf(sections, SECTION_GLOBAL);
  // Without code nothing changes them.
  if (!body || !bodyOf(sections, SECTION_CODE)) return [];
  const imports = bodyOf(sections, SECTION_IMPORT);
  const first = imports ? readImports(imports).globals : 0;
  const reader = new Reader(body, 0);
  const walker = new InstructionWalker(body, 0, body.length);
  const found: MutableGlobal[] = [];
  const count = reader.unsigned();
  for (let index = 0; index < count; index++) {
    const type = reader.peek() ?? 0;
    skipValueType(reader);
    const isMutable = reader.byte() === 1;
    walker.moveTo(reader.position, body.length);
    do walker.next();
    while (walker.code !== OP.end);
    reader.position = walker.position;
    if (!isMutable) continue;
    const passed = PASSED.get(type);
    if (!passed) return "it has a mutable global that is not a number of at most 64 bits";
    found.push({ index: first + index, passed });
  }
  if (found.length > MOST_GLOBALS) return `it has more than ${MOST_GLOBALS} mutable globals`;
  return found;
}

/** Entries that are added at the ends of sections. */
export class Additions {
  readonly #entries = new Map<number, Uint8Array[]>();

  add(section: number, entry: Uint8Array): void {
    const known = this.#entries.get(section);
    if (known) known.push(entry);
    else this.#entries.set(section, [entry]);
  }

  /** Exports a function. */
  export(name: string, index: number): void {
    const out = new Writer();
    out.text(name);
    out.byte(KIND_FUNCTION);
    out.unsigned(index);
    this.add(SECTION_EXPORT, out.finish());
  }

  /** The sections with added entries. */
  get sections(): readonly number[] {
    return [...this.#entries.keys()];
  }

  /** @returns the section with its additions */
  applyTo(id: number, body: Uint8Array): Uint8Array {
    const entries = this.#entries.get(id);
    if (!entries) return body;
    const reader = new Reader(body, 0);
    const out = new Writer(body.length);
    out.unsigned(reader.unsigned() + entries.length);
    out.copy(body, reader.position, body.length);
    for (const entry of entries) out.raw(entry);
    return out.finish();
  }
}

/** The numbers of a module's functions and globals. */
export function ownSpaces(sections: readonly Section[]): IndexSpaces {
  const defined = (id: number) => new Reader(bodyOf(sections, id) ?? NO_ENTRIES, 0).unsigned();
  const imports = readImports(bodyOf(sections, SECTION_IMPORT) ?? NO_ENTRIES);
  return {
    functions: imports.functions.length + defined(SECTION_FUNCTION),
    globals: imports.globals + defined(SECTION_GLOBAL),
  };
}

/** Adds a global for the size of the guest's memory, in pages. */
export function addSize(additions: Additions, pages: number, { globals }: IndexSpaces): MutableGlobal {
  const entry = new Writer();
  entry.raw([I32, 1, OP.i32Const]);
  entry.signed(pages);
  entry.byte(OP.end);
  additions.add(SECTION_GLOBAL, entry.finish());
  return { index: globals, passed: { as: I32 } };
}

/** Adds the functions that read and set these globals: types, functions, exports and code. */
export function addGlobalFunctions(
  additions: Additions,
  globals: readonly MutableGlobal[],
  sections: readonly Section[],
  { functions }: IndexSpaces,
): void {
  const types = readTypes(bodyOf(sections, SECTION_TYPE) ?? NO_ENTRIES).types.length;
  const passed = globals.map((global) => global.passed.as);
  for (const [number, added] of [
    { name: GET_GLOBALS_NAME, parameters: [], results: passed, code: readingCode(globals) },
    { name: SET_GLOBALS_NAME, parameters: passed, results: [], code: settingCode(globals) },
  ].entries()) {
    const type = new Writer();
    type.byte(FUNCTION_TYPE);
    type.block(Uint8Array.from(added.parameters));
    type.block(Uint8Array.from(added.results));
    additions.add(SECTION_TYPE, type.finish());
    const index = new Writer();
    index.unsigned(types + number);
    additions.add(SECTION_FUNCTION, index.finish());
    additions.export(added.name, functions + number);
    const body = new Writer();
    body.block(added.code);
    additions.add(SECTION_CODE, body.finish());
  }
}

function readingCode(globals: readonly MutableGlobal[]): Uint8Array {
  const out = new Writer();
  out.unsigned(NO_LOCALS);
  for (const { index, passed } of globals) {
    out.byte(OP.globalGet);
    out.unsigned(index);
    if (passed.out !== undefined) out.byte(passed.out);
  }
  out.byte(OP.end);
  return out.finish();
}

function settingCode(globals: readonly MutableGlobal[]): Uint8Array {
  const out = new Writer();
  out.unsigned(NO_LOCALS);
  for (const [parameter, { index, passed }] of globals.entries()) {
    out.byte(OP.localGet);
    out.unsigned(parameter);
    if (passed.back !== undefined) out.byte(passed.back);
    out.byte(OP.globalSet);
    out.unsigned(index);
  }
  out.byte(OP.end);
  return out.finish();
}
