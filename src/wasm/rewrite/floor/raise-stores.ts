/**
 * Keeps a guest from writing below an address, its floor. A compiler sets a MiB aside for a guest's stack, of which most guests use a few KiB; without a floor all of it has
 * to be looked through behind each call, which takes a tenth of a small guest's time.
 *
 * A store subtracts the floor from its address and adds it to its static offset. Addresses have 32 bits, and offsets are added without wrapping (effective addresses, core
 * specification 2.0, 4.4.7): what was below the floor ends beyond 4 GiB, where no memory is, and traps; what was above stays where it was. Stores through a frame's pointer
 * (`store-places.ts`) stay as they are: the pointer is looked at once, where it is set. Loads stay as they are, too.
 */

import { WasmLoadError } from "../../errors.js";
import { InstructionWalker } from "../binary/instruction-walker.js";
import { OP, SIMD_BASE } from "../binary/instructions.js";
import { HEADER, Reader, skipValueType } from "../binary/reader.js";
import { bodyOf, NO_ENTRIES, readSections, SECTION_CODE, SECTION_FUNCTION, SECTION_TYPE } from "../binary/sections.js";
import { readTypes } from "../binary/types.js";
import { Writer } from "../binary/writer.js";
import { CannotRaise, PLACE, PLACE_SIZE, StorePlaces } from "./store-places.js";

/** Static offsets are below. */
const OFFSETS = 2 ** 32;
const EMPTY_BLOCK = 0x40;
/** Parameters and locals of a function beyond which V8 refuses it. */
const MOST_LOCALS = 50_000;
const I32 = 0x7f;
const I64 = 0x7e;
const F32 = 0x7d;
const F64 = 0x7c;
const V128 = 0x7b;
/** By the code of a store, less that of the first, the type of what it stores. */
const STORED = [I32, I64, F32, F64, I32, I32, I64, I64, I64] as const;
const FIRST_STORE = 0x36;

/**
 * A module whose code can't write below an address: it traps where it would.
 * @param floor an address, above 0 and below 2 GiB
 * @returns undefined when it has instructions of which that can't be said, or metering does not take the module
 */
export function raiseStores(bytes: Uint8Array<ArrayBuffer>, floor: number): Uint8Array<ArrayBuffer> | undefined {
  try {
    const sections = readSections(bytes);
    const code = sections.find(({ id }) => id === SECTION_CODE);
    const { types, complete } = readTypes(bodyOf(sections, SECTION_TYPE) ?? NO_ENTRIES);
    if (!code || !complete) return undefined;
    const reader = new Reader(bodyOf(sections, SECTION_FUNCTION) ?? NO_ENTRIES, 0);
    const parameters = Array.from(
      { length: reader.unsigned() },
      () => types[reader.unsigned()]?.parameters.length ?? 0,
    );
    const raised = new RaisedCode(bytes, floor).write({ start: code.at, end: code.at + code.body.length }, parameters);
    const out = new Writer(bytes.length + raised.length);
    out.raw(HEADER);
    for (const { id, body } of sections) out.section(id, id === SECTION_CODE ? raised : body);
    return out.finish();
  } catch (error) {
    if (error instanceof CannotRaise || error instanceof WasmLoadError) return undefined;
    throw error;
  }
}

/** Writes the body of a code section. */
class RaisedCode {
  readonly #bytes: Uint8Array;
  readonly #floor: number;
  readonly #places: StorePlaces;
  /** The instructions of one function. */
  readonly #code = new Writer();
  /** The types of the locals that were added to it. */
  readonly #added: number[] = [];
  #locals = 0;

  constructor(bytes: Uint8Array, floor: number) {
    this.#bytes = bytes;
    this.#floor = floor;
    this.#places = new StorePlaces(bytes, new InstructionWalker(bytes, 0, 0));
  }

  /** @param parameters of each function */
  write({ start, end }: { readonly start: number; readonly end: number }, parameters: readonly number[]): Uint8Array {
    const reader = new Reader(this.#bytes.subarray(0, end), start);
    const out = new Writer(Math.ceil(1.25 * (end - start)) + 1_024);
    const fn = new Writer();
    const count = reader.unsigned();
    if (count !== parameters.length) throw new CannotRaise();
    out.unsigned(count);
    for (const each of parameters) {
      const length = reader.unsigned();
      const from = reader.position;
      reader.bytes(length);
      const behind = reader.position;
      fn.clear();
      this.#function(fn, each, from, behind);
      out.block(fn.view());
      reader.position = behind;
    }
    return out.view();
  }

  #function(out: Writer, parameters: number, start: number, end: number): void {
    const reader = new Reader(this.#bytes.subarray(0, end), start);
    const groups = reader.unsigned();
    const declared = reader.position;
    this.#locals = parameters;
    for (let left = groups; left > 0; left--) {
      this.#locals += reader.unsigned();
      skipValueType(reader);
    }
    this.#added.length = 0;
    this.#code.clear();
    this.#instructions(reader.position, end);
    out.unsigned(groups + this.#added.length);
    out.copy(this.#bytes, declared, reader.position);
    for (const type of this.#added) out.raw([1, type]);
    out.raw(this.#code.view());
  }

  #instructions(start: number, end: number): void {
    const places = this.#places;
    const out = this.#code;
    const { found } = places;
    places.find(start, end);
    let copied = start;
    for (let place = 0; place < found.length; place += PLACE_SIZE) {
      const at = found.at(place + 1);
      const what = found.at(place);
      // A local that is set again is not a frame's pointer, and not worth a check.
      if (places.hasFrame ? what === PLACE.frameStore : what === PLACE.frame) continue;
      out.copy(this.#bytes, copied, at);
      copied = at;
      if (what === PLACE.frame) this.#checkFrame();
      else if (what === PLACE.range) this.#checkRange();
      else copied = this.#raise(at, found.at(place + 2), found.at(place + 3));
    }
    out.copy(this.#bytes, copied, end);
  }

  /** Writes a store as it is told above. @returns where the code goes on: behind it, or at it when it stays as it is */
  #raise(start: number, end: number, code: number): number {
    const reader = new Reader(this.#bytes, start + 1);
    if (code >= SIMD_BASE) reader.unsigned();
    reader.unsigned();
    const offsetAt = reader.position;
    const offset = reader.unsigned();
    // Whatever is added to it: an array whose place is known.
    if (offset >= this.#floor) return start;
    if (offset + this.#floor >= OFFSETS) throw new CannotRaise();
    const value = this.#local(code >= SIMD_BASE ? V128 : (STORED[code - FIRST_STORE] ?? I32));
    const out = this.#code;
    out.instruction(OP.localSet, value);
    this.#pushFloor();
    out.byte(OP.i32Sub);
    out.instruction(OP.localGet, value);
    out.copy(this.#bytes, start, offsetAt);
    out.unsigned(offset + this.#floor);
    // The lane, where it has one.
    out.copy(this.#bytes, reader.position, end);
    return end;
  }

  /** Behind the definition of the frame's pointer: traps when that is below the floor. Nothing but static offsets is added to it, and they don't wrap. */
  #checkFrame(): void {
    const out = this.#code;
    out.instruction(OP.localGet, this.#places.frame);
    this.#pushFloor();
    out.raw([OP.i32LtU, OP.if, EMPTY_BLOCK, OP.unreachable, OP.end]);
  }

  /** Before a bulk operation, whose three operands are on top of the stack and stay there: traps when what it writes begins below. */
  #checkRange(): void {
    const [destination, second, length] = [this.#local(I32), this.#local(I32, 1), this.#local(I32, 2)];
    const out = this.#code;
    out.instruction(OP.localSet, length);
    out.instruction(OP.localSet, second);
    out.instruction(OP.localTee, destination);
    this.#pushFloor();
    out.raw([OP.i32LtU, OP.if, EMPTY_BLOCK]);
    out.instruction(OP.localGet, length);
    out.raw([OP.if, EMPTY_BLOCK, OP.unreachable, OP.end, OP.end]);
    out.instruction(OP.localGet, destination);
    out.instruction(OP.localGet, second);
    out.instruction(OP.localGet, length);
  }

  #pushFloor(): void {
    this.#code.byte(OP.i32Const);
    this.#code.signed(this.#floor);
  }

  /** An added local of a type, of which there may be several. */
  #local(type: number, number = 0): number {
    let seen = 0;
    for (let index = 0; index < this.#added.length; index++) {
      if (this.#added[index] === type && seen++ === number) return this.#locals + index;
    }
    if (this.#locals + this.#added.length >= MOST_LOCALS) throw new CannotRaise();
    this.#added.push(type);
    return this.#locals + this.#added.length - 1;
  }
}
