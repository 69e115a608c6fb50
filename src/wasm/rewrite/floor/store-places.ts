/** Finds where a function writes to memory, and which of that goes through its frame's pointer. */
import type { InstructionWalker } from "../binary/instruction-walker.js";
import { ALL_CODES, ATOMIC_BASE, codes, OP, SIMD_BASE } from "../binary/instructions.js";
import { Integers } from "../binary/integers.js";
import { DEPENDS, left, NO_STORE, OPERANDS_OF, STORES, taken } from "../binary/operands.js";
import { Reader } from "../binary/reader.js";
import { writesElsewhere } from "../write-barriers/store-code.js";

/** Set in a memory argument's alignment when the memory's index follows. */
const HAS_MEMORY_INDEX = 0x40;
const NO_LOCAL = -1;

/** Operations on ranges of memory. */
const RANGES = [OP.memoryCopy, OP.memoryFill, OP.memoryInit] as const;
const OPENING = [OP.block, OP.loop, OP.if, OP.try, OP.tryTable] as const;
const CLOSING = [OP.end, OP.delegate] as const;
const SEARCHED = codes(...RANGES, ...OPENING, ...CLOSING, OP.globalGet);

/** Instructions that matter before there is a frame's pointer. */
const BEFORE_FRAME: Readonly<Uint8Array> = STORES.map((above, code) =>
  above === NO_STORE ? (SEARCHED[code] ?? 0) : 1,
);

/** The meaning of an instruction behind the definition of the frame's pointer, beside its operands. */
const PLAIN = 0;
const STORE = 1;
const RANGE = 2;
const GET = 3;
const SET = 4;
/** By code, one of these. */
const BEHIND_FRAME: Readonly<Uint8Array> = tabulateBehind();

function tabulateBehind(): Uint8Array {
  const table = STORES.map((above) => (above === NO_STORE ? PLAIN : STORE));
  for (const code of RANGES) table[code] = RANGE;
  table[OP.localGet] = GET;
  table[OP.localSet] = SET;
  table[OP.localTee] = SET;
  return table;
}

/** Below the height of any operand. */
const BOTTOM = -(2 ** 31);

/** It can't be said where the code writes. */
export class CannotRaise extends Error {}

/** The kind of a place. */
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
  /** Where among the operands the frame's pointer stands, the lowest first, as their number when no block and no call had come before; {@link BOTTOM} is below all. */
  readonly #heights = new Integers();

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
    this.found.clear();
    this.frame = NO_LOCAL;
    this.#isSetAgain = false;
    this.#walker.moveTo(start, end);
    if (this.#seekFrame(end)) this.#followFrame();
  }

  /** Goes on behind the definition of the frame's pointer: no store before goes through it. @returns whether there is one */
  #seekFrame(end: number): boolean {
    const walker = this.#walker;
    let depth = 0;
    while (walker.seek(BEFORE_FRAME)) {
      const { code } = walker;
      switch (code) {
        case OP.memoryCopy:
        case OP.memoryFill:
        case OP.memoryInit:
          this.#range(code);
          break;
        case OP.globalGet:
          if (depth === 0 && this.#definesFrame(end)) return true;
          break;
        case OP.block:
        case OP.loop:
        case OP.if:
        case OP.try:
        case OP.tryTable:
          depth++;
          break;
        case OP.end:
        case OP.delegate:
          depth--;
          break;
        default:
          this.#store(code, false);
      }
    }
    return false;
  }

  /** Goes on behind the definition of the frame's pointer, if one begins with the global that it stands on. */
  #definesFrame(end: number): boolean {
    const walker = this.#walker;
    const { position } = walker;
    const next = (): number => (walker.seek(ALL_CODES) ? walker.code : OP.unreachable);
    if (next() === OP.i32Const && next() === OP.i32Sub) {
      const code = next();
      if (code === OP.localSet || code === OP.localTee) {
        this.frame = walker.index;
        this.#add(PLACE.frame, walker.position, code);
        return true;
      }
    }
    walker.moveTo(position, end);
    return false;
  }

  /** Looks at what is behind the definition of the frame's pointer. */
  #followFrame(): void {
    const walker = this.#walker;
    const heights = this.#heights;
    heights.clear();
    heights.push(BOTTOM);
    // The pointer may be on the stack: its definition may have left it there.
    let top = BOTTOM;
    let height = 0;
    if (walker.code === OP.localTee) {
      heights.push(height);
      top = height++;
    }
    while (walker.seek(ALL_CODES)) {
      const { code } = walker;
      const kind = BEHIND_FRAME[code];
      if (kind === STORE) this.#store(code, this.#isFrameAt(height - 2));
      else if (kind === RANGE) this.#range(code);
      else if (kind === SET && walker.index === this.frame) this.#isSetAgain = true;
      const operands = OPERANDS_OF[code] ?? DEPENDS;
      if (operands === DEPENDS) {
        height = 0;
        heights.clear();
        heights.push(BOTTOM);
        top = BOTTOM;
        continue;
      }
      height -= taken(operands);
      while (top >= height) {
        heights.pop();
        top = heights.at(heights.length - 1);
      }
      height += left(operands);
      if ((kind === GET || kind === SET) && walker.index === this.frame && left(operands) > 0) {
        top = height - 1;
        heights.push(top);
      }
    }
  }

  /** Whether the second operand from the top is the frame's pointer; the first may be, too. */
  #isFrameAt(height: number): boolean {
    const heights = this.#heights;
    const last = heights.length - 1;
    return heights.at(last) === height || (last > 0 && heights.at(last - 1) === height);
  }

  #store(code: number, isFrame: boolean): void {
    const { start } = this.#walker;
    if (code >= ATOMIC_BASE) throw new CannotRaise();
    const reader = new Reader(this.#bytes, start + 1);
    if (code >= SIMD_BASE) reader.unsigned();
    if (reader.unsigned() & HAS_MEMORY_INDEX) throw new CannotRaise();
    this.#add(isFrame ? PLACE.frameStore : PLACE.store, start, code);
  }

  #range(code: number): void {
    if (writesElsewhere(this.#bytes, this.#walker)) throw new CannotRaise();
    this.#add(PLACE.range, this.#walker.start, code);
  }

  #add(what: number, at: number, code: number): void {
    this.found.push(what);
    this.found.push(at);
    this.found.push(this.#walker.position);
    this.found.push(code);
  }
}
