/** Finds where a function writes to memory, and which of that goes through its frame's pointer. */
import type { InstructionWalker } from "../binary/instruction-walker.js";
import { ATOMIC_BASE, OP, SIMD_BASE } from "../binary/instructions.js";
import { Integers } from "../binary/integers.js";
import { DEPENDS, left, NO_STORE, OPERANDS_OF, STORES, taken } from "../binary/operands.js";
import { Reader } from "../binary/reader.js";
import { writesElsewhere } from "../meter/marks/store-code.js";

/** Set in a memory argument's alignment when the memory's index follows. */
const HAS_MEMORY_INDEX = 0x40;
const NO_LOCAL = -1;

/** It can't be said where the code writes. */
export class CannotRaise extends Error {}

/** What is at a place. */
export const PLACE = {
  /** A store. */
  store: 0,
  /** A store through the frame's pointer, should that be set only once. */
  frameStore: 1,
  /** A bulk operation. */
  range: 2,
  /** Behind the definition of the frame's pointer. */
  frame: 3,
} as const;
/** Numbers of a place: what, where it begins, where the instruction ends, its code. */
export const PLACE_SIZE = 4;

/**
 * The places of one function after the other.
 *
 * A frame's pointer is a local that a function sets once, outside of all blocks, to the stack's pointer less a constant: `global.get`, `i32.const`, `i32.sub`, `local.tee`. It
 * has this value in all code behind that, which is all that matters; where it comes from only says that a check of it is worth it. To know which stores go through it, the
 * operands are followed as far as no block and no call comes between.
 */
export class StorePlaces {
  /** In order. */
  readonly found = new Integers();
  /** The local that the function sets as its frame's pointer. */
  frame = NO_LOCAL;
  #isSetAgain = false;
  readonly #bytes: Uint8Array;
  readonly #walker: InstructionWalker;
  /** Of the operands that are known, the lowest first: the local that each comes from. */
  readonly #operands = new Integers();

  /** @param walker of the same bytes */
  constructor(bytes: Uint8Array, walker: InstructionWalker) {
    this.#bytes = bytes;
    this.#walker = walker;
  }

  /** Whether stores through the frame's pointer need not be looked at. */
  get hasFrame(): boolean {
    return this.frame !== NO_LOCAL && !this.#isSetAgain;
  }

  /** Looks at a function's instructions. @throws CannotRaise */
  find(start: number, end: number): void {
    const walker = this.#walker;
    this.found.clear();
    this.frame = NO_LOCAL;
    this.#isSetAgain = false;
    this.#operands.clear();
    let depth = 0;
    let last = 0;
    let beforeLast = 0;
    let beforeThat = 0;
    walker.moveTo(start, end);
    while (!walker.done) {
      walker.next();
      const { code } = walker;
      const above = STORES[code] ?? NO_STORE;
      if (above !== NO_STORE) this.#store(code);
      if (code === OP.memoryCopy || code === OP.memoryFill || code === OP.memoryInit) this.#range(code);
      if (code === OP.localSet || code === OP.localTee) {
        const isFrame = last === OP.i32Sub && beforeLast === OP.i32Const && beforeThat === OP.globalGet && depth === 0;
        if (this.frame === NO_LOCAL && isFrame) {
          this.frame = walker.index;
          // What was read of it before is another value.
          this.#operands.clear();
          this.#add(PLACE.frame, walker.position, code);
        } else if (this.frame === walker.index) this.#isSetAgain = true;
      }
      if (code === OP.block || code === OP.loop || code === OP.if || code === OP.try || code === OP.tryTable) depth++;
      else if (code === OP.end || code === OP.delegate) depth--;
      this.#follow(code);
      beforeThat = beforeLast;
      beforeLast = last;
      last = code;
    }
  }

  #store(code: number): void {
    const { start } = this.#walker;
    if (code >= ATOMIC_BASE) throw new CannotRaise();
    const reader = new Reader(this.#bytes, start + 1);
    if (code >= SIMD_BASE) reader.unsigned();
    const operands = this.#operands;
    const isFrame = operands.length >= 2 && this.frame !== NO_LOCAL && operands.at(operands.length - 2) === this.frame;
    if (reader.unsigned() & HAS_MEMORY_INDEX) throw new CannotRaise();
    this.#add(isFrame ? PLACE.frameStore : PLACE.store, start, code);
  }

  #range(code: number): void {
    if (writesElsewhere(this.#bytes, this.#walker)) throw new CannotRaise();
    this.#add(PLACE.range, this.#walker.start, code);
  }

  #follow(code: number): void {
    const operands = this.#operands;
    const entry = OPERANDS_OF[code] ?? DEPENDS;
    if (entry === DEPENDS) {
      operands.clear();
      return;
    }
    for (let count = taken(entry); count > 0 && operands.length > 0; count--) operands.pop();
    const isLocal = code === OP.localGet || code === OP.localTee;
    for (let count = left(entry); count > 0; count--) operands.push(isLocal ? this.#walker.index : NO_LOCAL);
  }

  #add(what: number, at: number, code: number): void {
    this.found.push(what);
    this.found.push(at);
    this.found.push(this.#walker.position);
    this.found.push(code);
  }
}
