/** Properties of a module's functions for inlining. */

import { WasmLoadError } from "../../errors.js";
import { InstructionWalker } from "../binary/instruction-walker.js";
import { codes, OP } from "../binary/instructions.js";
import { Integers } from "../binary/integers.js";
import { Reader, skipValueType } from "../binary/reader.js";
import type { FunctionType } from "../binary/types.js";

/** The size of an inlined function. */
export interface ExpandedSize {
  /** Bytes of its instructions, at most. */
  readonly bytes: number;
  /** The same where it is called in a loop, where most time is spent. */
  readonly loopBytes: number;
  /** Its parameters and locals, at most. */
  readonly locals: number;
}

/** Kinds of edits in an inlined function's code. */
export const EDIT = {
  /** A call; the value is the callee. */
  call: 0,
  /** The index of a local, which is the value. */
  local: 1,
  /** A return; the value is how many blocks are open there. */
  return: 2,
  /** A call in a loop. */
  loopCall: 3,
} as const;
/** Numbers of an edit: its position, the position behind it, its kind, its value. */
export const EDIT_SIZE = 4;

/** A function that may be inlined. */
export interface Expandable {
  /** The types of its parameters and locals, as the module writes them: numbers and vectors. */
  readonly types: readonly number[];
  /** The type of the block that replaces it: that of its result, or {@link NO_RESULT}. */
  readonly block: number;
}

/** A function that the module defines. */
export interface DefinedFunction {
  /** The positions of its local declarations, its instructions, and its end. */
  readonly start: number;
  readonly code: number;
  readonly end: number;
  readonly parameters: number;
  /** Parameters and locals together. */
  readonly locals: number;
  /** Its edits: all of its calls, and the others if it may be inlined. */
  readonly firstEdit: number;
  readonly endEdit: number;
  readonly expandable?: Expandable;
}

/** Instructions that matter in every function, and in one that may be inlined. */
const ALWAYS = [OP.call, OP.block, OP.loop, OP.if, OP.try, OP.tryTable, OP.end, OP.delegate] as const;
const CALLS_AND_BLOCKS = codes(...ALWAYS);
const EDITED = codes(
  ...[...ALWAYS, OP.returnCall, OP.returnCallIndirect, OP.returnCallRef, OP.return],
  ...[OP.localGet, OP.localSet, OP.localTee],
);

/** A block without a result. */
const NO_RESULT = 0x40;
/** The types of numbers and vectors, whose locals can be set to zero again. */
const VALUE_TYPES: ReadonlyMap<string, number> = new Map([
  ["i32", 0x7f],
  ["i64", 0x7e],
  ["f32", 0x7d],
  ["f64", 0x7c],
  ["v128", 0x7b],
]);
const PLAIN_TYPES: ReadonlySet<number> = new Set(VALUE_TYPES.values());

/** The functions of a code section, and their edits. */
export class DefinedFunctions {
  readonly edits = new Integers();
  readonly all: readonly DefinedFunction[];
  /** Position behind the last of them, where skipped functions begin. */
  readonly end: number;
  readonly #bytes: Uint8Array;
  readonly #largest: ExpandedSize;
  readonly #walker: InstructionWalker;
  /** By open block of the current function, whether it is a loop; and the number of loops. */
  readonly #blocks = new Integers();
  #loops = 0;

  /**
   * @param at begin and end of the code section's body
   * @param types of the scanned functions; the section may have more
   * @throws WasmLoadError when the code is not known or has no end
   */
  constructor(
    bytes: Uint8Array,
    at: { readonly start: number; readonly end: number },
    types: readonly (FunctionType | undefined)[],
    largest: ExpandedSize,
  ) {
    this.#bytes = bytes;
    this.#largest = largest;
    this.#walker = new InstructionWalker(bytes, 0, 0);
    const reader = new Reader(bytes.subarray(0, at.end), at.start);
    const count = reader.unsigned();
    if (count < types.length)
      throw new WasmLoadError("wasm-invalid", "invalid wasm file: functions and their code differ in number");
    this.all = types.map((type) => {
      const length = reader.unsigned();
      const start = reader.position;
      reader.bytes(length);
      const end = reader.position;
      const fn = this.#read(reader, start, end, type);
      reader.position = end;
      return fn;
    });
    this.end = reader.position;
  }

  #read(reader: Reader, start: number, end: number, type: FunctionType | undefined): DefinedFunction {
    reader.position = start;
    const parameters = type?.parameters.length ?? 0;
    const types = (type?.parameters ?? []).map((name) => VALUE_TYPES.get(name) ?? 0);
    let locals = parameters;
    for (let groups = reader.unsigned(); groups > 0; groups--) {
      const more = reader.unsigned();
      locals += more;
      if (locals <= this.#largest.locals) for (let left = more; left > 0; left--) types.push(reader.peek() ?? 0);
      skipValueType(reader);
    }
    const code = reader.position;
    const isSmall = end - code <= this.#largest.loopBytes && locals <= this.#largest.locals;
    const block = type && blockOf(type);
    const mayBe = isSmall && block !== undefined && types.every((each) => PLAIN_TYPES.has(each));
    const firstEdit = this.edits.length;
    this.#walker.moveTo(code, end);
    const isExpandable = this.#findEdits(locals, mayBe);
    return {
      ...{ start, code, end, parameters, locals, firstEdit, endEdit: this.edits.length },
      ...(isExpandable && block !== undefined && { expandable: { types, block } }),
    };
  }

  /** @returns whether the function can be inlined, if it may */
  #findEdits(locals: number, mayBe: boolean): boolean {
    const walker = this.#walker;
    const blocks = this.#blocks;
    let can = mayBe;
    blocks.clear();
    this.#loops = 0;
    const wanted = mayBe ? EDITED : CALLS_AND_BLOCKS;
    while (walker.seek(wanted)) {
      switch (walker.code) {
        case OP.call:
          this.#call();
          break;
        case OP.loop:
          blocks.push(1);
          this.#loops++;
          break;
        case OP.block:
        case OP.if:
          blocks.push(0);
          break;
        case OP.end:
        case OP.delegate:
          // Its own end is the last one.
          if (blocks.length === 0) return can && walker.done;
          this.#loops -= blocks.pop();
          break;
        case OP.try:
        case OP.tryTable:
          blocks.push(0);
          can = false;
          break;
        case OP.returnCall:
        case OP.returnCallIndirect:
        case OP.returnCallRef:
          // A tail call would end the caller.
          can = false;
          break;
        case OP.return:
          this.#edit(walker.start, EDIT.return, blocks.length);
          break;
        case OP.localGet:
        case OP.localSet:
        case OP.localTee:
          if (walker.index >= locals) can = false;
          this.#edit(walker.indexAt, EDIT.local, walker.index);
          break;
        default:
      }
    }
    return false;
  }

  /** A call that never returns reports a failure, and is not worth its code. */
  #call(): void {
    const { start, position, index } = this.#walker;
    if (this.#bytes[position] === OP.unreachable) return;
    this.#edit(start, this.#loops > 0 ? EDIT.loopCall : EDIT.call, index);
  }

  #edit(at: number, what: number, value: number): void {
    this.edits.push(at);
    this.edits.push(this.#walker.position);
    this.edits.push(what);
    this.edits.push(value);
  }
}

function blockOf({ results }: FunctionType): number | undefined {
  if (results.length > 1) return undefined;
  return results[0] === undefined ? NO_RESULT : VALUE_TYPES.get(results[0]);
}
