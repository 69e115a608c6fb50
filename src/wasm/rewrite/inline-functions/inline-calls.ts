/**
 * Inlines small functions: the call's arguments become locals of the caller, and a block takes the place of the call.
 *
 * Compilers leave such calls when they optimize for size, and the engine does not inline them. In a metered module each of them costs a charge, too.
 * This pass runs before metering, which sees the final code. Function indices stay as they are.
 */

import { WasmLoadError } from "../../errors.js";
import { OP } from "../binary/instructions.js";
import type { Integers } from "../binary/integers.js";
import { HEADER, Reader } from "../binary/reader.js";
import {
  bodyOf,
  NO_ENTRIES,
  readImports,
  readSections,
  SECTION_CODE,
  SECTION_FUNCTION,
  SECTION_IMPORT,
  SECTION_TYPE,
} from "../binary/sections.js";
import { readTypes } from "../binary/types.js";
import { Writer } from "../binary/writer.js";
import type { IndexSpaces } from "../meter/segments.js";
import {
  type DefinedFunction,
  DefinedFunctions,
  EDIT,
  EDIT_SIZE,
  type Expandable,
  type ExpandedSize,
} from "./functions.js";

/** Limits of inlining. */
export interface ExpansionLimits {
  /** The largest inlined function. */
  readonly largest: ExpandedSize;
  /** Nesting of inlined functions. */
  readonly depth: number;
  /** Growth of a function in bytes: up to the first number, or its own size, and at most the second. */
  readonly functionBytes: number;
  readonly mostFunctionBytes: number;
  /** Growth of the whole code, as a share of it. */
  readonly share: number;
}

/** Limits that make a guest in Rust a tenth faster. */
const USUAL: ExpansionLimits = {
  largest: { bytes: 60, loopBytes: 150, locals: 12 },
  depth: 3,
  functionBytes: 200,
  mostFunctionBytes: 20_000,
  share: 0.75,
};
/** Limits of a small module: 3 to 6 % less time again, for another third of its code. */
const SMALL: ExpansionLimits = {
  ...USUAL,
  largest: { bytes: 150, loopBytes: 400, locals: 12 },
  functionBytes: 600,
  share: 2,
};
/** Bytes of code up to which a module is small. */
const SMALL_CODE = 256 * 1024;
/** Bytes that all of a small module's code may grow by. */
const LEAST_BYTES = 4_096;
/** Locals of a caller, beyond which none is added: the engine has a limit, and the code of each access grows. */
const MOST_CALLER_LOCALS = 1_000;
/** Bytes for a parameter or a local of an inlined function, and for its block, about. */
const LOCAL_BYTES = 3;
const BLOCK_BYTES = 3;

/** The instruction that pushes a zero, by type. */
const ZEROS: ReadonlyMap<number, readonly number[]> = new Map([
  [0x7f, [OP.i32Const, 0]],
  [0x7e, [OP.i64Const, 0]],
  [0x7d, [0x43, ...zeros(4)]],
  [0x7c, [0x44, ...zeros(8)]],
  [0x7b, [0xfd, 0x0c, ...zeros(16)]],
]);

/**
 * Inlines a module's small functions.
 * @param own index spaces of the guest's own functions; absent: all
 * @returns the unchanged bytes when they have unknown parts, which metering reports
 */
export function inlineCalls(
  bytes: Uint8Array<ArrayBuffer>,
  own?: IndexSpaces,
  limits?: ExpansionLimits,
): Uint8Array<ArrayBuffer> {
  try {
    return expanded(bytes, own, limits);
  } catch (error) {
    if (error instanceof WasmLoadError) return bytes;
    throw error;
  }
}

function expanded(
  bytes: Uint8Array<ArrayBuffer>,
  own: IndexSpaces | undefined,
  asked: ExpansionLimits | undefined,
): Uint8Array<ArrayBuffer> {
  const sections = readSections(bytes);
  const body = (id: number): Uint8Array => bodyOf(sections, id) ?? NO_ENTRIES;
  const section = sections.find(({ id }) => id === SECTION_CODE);
  const types = readTypes(body(SECTION_TYPE));
  if (!section || !types.complete) return bytes;
  const imported = readImports(body(SECTION_IMPORT)).functions.length;
  const reader = new Reader(body(SECTION_FUNCTION), 0);
  const defined = Array.from({ length: reader.unsigned() }, () => types.types[reader.unsigned()]);
  // Functions behind the guest's own are this server's: the guest may not call them, and metering must see a call.
  const guests = own ? defined.slice(0, own.functions - imported) : defined;
  const limits = asked ?? (section.body.length <= SMALL_CODE ? SMALL : USUAL);
  const at = { start: section.at, end: section.at + section.body.length };
  const functions = new DefinedFunctions(bytes, at, guests, limits.largest);
  const code = new Expansion(bytes, functions, imported, limits).write(defined.length, at.end);
  const out = new Writer(bytes.length + code.length);
  out.raw(HEADER);
  for (const { id, body: old } of sections) out.section(id, id === SECTION_CODE ? code : old);
  return out.finish();
}

/** Writes the code section's functions, one after the other. */
class Expansion {
  readonly #bytes: Uint8Array;
  readonly #functions: readonly DefinedFunction[];
  readonly #edits: Integers;
  readonly #end: number;
  readonly #imported: number;
  readonly #limits: ExpansionLimits;
  /** The instructions of the current function. */
  readonly #code = new Writer();
  #caller: DefinedFunction | undefined;
  /** Functions being inlined, the outermost first. */
  readonly #open: DefinedFunction[] = [];
  /** The types of the locals that were added, and by type those that are free. */
  #added: number[] = [];
  readonly #free = new Map<number, number[]>();
  /** Bytes that this function may still grow by, and all of them. */
  #left = 0;
  #allLeft: number;

  constructor(
    bytes: Uint8Array,
    { all, edits, end }: DefinedFunctions,
    importedFunctions: number,
    limits: ExpansionLimits,
  ) {
    this.#bytes = bytes;
    this.#functions = all;
    this.#edits = edits;
    this.#end = end;
    this.#imported = importedFunctions;
    this.#limits = limits;
    const size = all.reduce((sum, { code, end }) => sum + end - code, 0);
    this.#allLeft = Math.max(size * limits.share, LEAST_BYTES);
  }

  /** @param count the number of all functions; skipped ones stay unchanged @param end the end of the section */
  write(count: number, end: number): Uint8Array {
    const out = new Writer(Math.ceil((end - (this.#functions[0]?.start ?? end)) * (1 + this.#limits.share)) + 1_024);
    const fn = new Writer();
    out.unsigned(count);
    for (const each of this.#functions) {
      fn.clear();
      this.#function(fn, each);
      out.block(fn.view());
    }
    out.copy(this.#bytes, this.#end, end);
    return out.view();
  }

  #function(out: Writer, fn: DefinedFunction): void {
    const { functionBytes, mostFunctionBytes } = this.#limits;
    this.#caller = fn;
    this.#added = [];
    this.#free.clear();
    this.#code.clear();
    const most = Math.min(Math.max(functionBytes, fn.end - fn.code), mostFunctionBytes, this.#allLeft);
    this.#left = most;
    const isExpanded = this.#instructions(fn);
    this.#allLeft -= most - this.#left;
    if (!isExpanded) {
      out.copy(this.#bytes, fn.start, fn.end);
      return;
    }
    const locals = new Reader(this.#bytes, fn.start);
    out.unsigned(locals.unsigned() + this.#added.length);
    out.copy(this.#bytes, locals.position, fn.code);
    for (const type of this.#added) out.raw([1, type]);
    out.raw(this.#code.view());
  }

  /**
   * Writes the instructions of the caller, or of an inlined function.
   * @param isInLoop whether they are in a loop of the caller
   * @param locals the caller's locals for those of an inlined function
   * @returns whether they differ from its own
   */
  #instructions(fn: DefinedFunction, isInLoop = false, locals?: readonly number[]): boolean {
    const edits = this.#edits;
    const out = this.#code;
    let position = fn.code;
    for (let edit = fn.firstEdit; edit < fn.endEdit; edit += EDIT_SIZE) {
      const what = edits.at(edit + 2);
      const value = edits.at(edit + 3);
      const isCall = what === EDIT.call || what === EDIT.loopCall;
      const isHot = isInLoop || what === EDIT.loopCall;
      const callee = isCall ? this.#functions[value - this.#imported] : undefined;
      if (isCall ? !(callee && this.#affords(callee, isHot)) : !locals) continue;
      out.copy(this.#bytes, position, edits.at(edit));
      position = edits.at(edit + 1);
      if (callee?.expandable) this.#call(callee, callee.expandable, isHot);
      else if (what === EDIT.local) out.unsigned(locals?.[value] ?? 0);
      else out.instruction(OP.br, value);
    }
    out.copy(this.#bytes, position, fn.end);
    return position > fn.code;
  }

  #affords(callee: DefinedFunction, isInLoop: boolean): boolean {
    const { bytes, loopBytes } = this.#limits.largest;
    if (callee.end - callee.code > (isInLoop ? loopBytes : bytes)) return false;
    if (!callee.expandable || this.#left < growthBy(callee)) return false;
    if (this.#open.length === this.#limits.depth || this.#open.includes(callee) || this.#caller === callee)
      return false;
    return (this.#caller?.locals ?? 0) + this.#added.length + callee.locals <= MOST_CALLER_LOCALS;
  }

  #call(callee: DefinedFunction, { types, block }: Expandable, isInLoop: boolean): void {
    const out = this.#code;
    this.#left -= growthBy(callee);
    const locals = types.map((type) => this.#take(type));
    for (let parameter = callee.parameters - 1; parameter >= 0; parameter--)
      out.instruction(OP.localSet, locals[parameter] ?? 0);
    // The code may run for the second time.
    for (let local = callee.parameters; local < locals.length; local++) {
      out.raw(ZEROS.get(types[local] ?? 0) ?? []);
      out.instruction(OP.localSet, locals[local] ?? 0);
    }
    out.raw([OP.block, block]);
    this.#open.push(callee);
    // Its last instruction is an end, and a branch out of it becomes one out of the block.
    this.#instructions(callee, isInLoop, locals);
    this.#open.pop();
    for (const [number, type] of types.entries()) this.#free.get(type)?.push(locals[number] ?? 0);
  }

  /** A free local of a type. */
  #take(type: number): number {
    const free = this.#free.get(type);
    if (!free) this.#free.set(type, []);
    const known = free?.pop();
    if (known !== undefined) return known;
    this.#added.push(type);
    return (this.#caller?.locals ?? 0) + this.#added.length - 1;
  }
}

function growthBy({ code, end, locals }: DefinedFunction): number {
  return end - code + locals * LOCAL_BYTES + BLOCK_BYTES;
}

function zeros(count: number): readonly number[] {
  return new Array<number>(count).fill(0);
}
