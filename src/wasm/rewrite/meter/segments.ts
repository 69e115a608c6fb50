/**
 * Divides functions into segments: runs of instructions that are paid for together, at their begin.
 *
 * A segment lasts from its charge to the next one in the text, without the loops in between, which have their own segments. Within a loop control
 * only moves forward, so that each of its instructions runs at most once for each execution of its charge, as long as nothing jumps over the charge
 * into the segment. Only labels can be jumped to: the end of a block, `else`, `catch`. So behind one of those a new segment begins, unless the block
 * began in the segment that is open there: then a jump there has passed that segment's charge already. The end of a loop is not a label.
 */

import { WasmLoadError } from "../../errors.js";
import type { InstructionWalker } from "../binary/instruction-walker.js";
import { ALL_CODES, CODES, IMMEDIATES, IMMEDIATES_OF, OP } from "../binary/instructions.js";
import { Integers } from "../binary/integers.js";
import { BULK } from "./helpers.js";
import { WEIGHTS } from "./weights.js";

/**
 * Units at which a segment ends. Small functions and loops have one segment each; in large ones, where most of the code is jumped over, not all of it
 * is paid for.
 */
const LARGEST_SEGMENT = 512;

/** Kinds of points in the code. */
export const POINT = {
  /** A function's first charge. */
  entry: 0,
  /** Any other charge; the value is the segment. */
  charge: 1,
  /** A call's index; the value is the callee. */
  callee: 2,
  /** Another function index. */
  functionIndex: 3,
  /** A bulk operation; the value is its code. */
  bulk: 4,
  /** `memory.size` and `memory.grow` of the first memory; the value is the code. */
  memorySize: 5,
  /** Begin of a call that returns; the value is the callee, or {@link UNKNOWN}. */
  beforeCall: 6,
  /** The end of such a call; the same value. */
  behindCall: 7,
  /** A possible exit from the function, such as a call that does not return. */
  exit: 8,
} as const;
/** The callee of a call by a table or a reference. */
export const UNKNOWN = -1;
/** Numbers of a point: its position, kind, value and segment. */
export const POINT_SIZE = 4;

/** No open segment: the next instruction with a cost begins one. */
const NONE = -1;

/**
 * Kinds of instructions for the scan: only a weight, also the index of a local or a global, or an event: a call, a branch, an exit, the begin or end
 * of a block, or a charge by length.
 */
const PLAIN = 0;
const LOCAL = 1;
const GLOBAL = 2;
const EVENT = 3;
/** Kinds by code. */
const KINDS: Readonly<Uint8Array> = tabulateKinds();

function tabulateKinds(): Uint8Array {
  const table = new Uint8Array(CODES);
  table.fill(EVENT, OP.block, OP.i32Const);
  table.fill(PLAIN, OP.drop, OP.tryTable);
  table.fill(PLAIN, OP.tableGet, OP.memorySize);
  for (let code = 0; code < CODES; code++) {
    const immediates = IMMEDIATES_OF[code];
    if (immediates === IMMEDIATES.localIndex) table[code] = LOCAL;
    else if (immediates === IMMEDIATES.globalIndex) table[code] = GLOBAL;
    else if (immediates === IMMEDIATES.functionIndex || BULK.has(code)) table[code] = EVENT;
  }
  for (const code of [OP.brOnNull, OP.brOnNonNull, OP.brOnCast, OP.brOnCastFail]) table[code] = EVENT;
  return table;
}

/** A function of the module, and the range of its points. */
export interface FunctionCode {
  /** Its index before metering. */
  readonly index: number;
  /** Parameters and locals together. */
  readonly locals: number;
  /** The positions of its local declarations, its instructions, and its end. */
  readonly start: number;
  readonly code: number;
  readonly end: number;
  /** The first segment, charged at its entry, and the one after its last. */
  readonly firstSegment: number;
  readonly endSegment: number;
  readonly firstPoint: number;
  readonly endPoint: number;
  /** Whether it has bulk operations on memory. */
  readonly copies: boolean;
  /** Whether its exits and calls are all known as points: it has no handlers, and no branch depends on a reference. */
  readonly isPlain: boolean;
}

/** Sizes of the index spaces: metering adds entries behind them, which the module must not reach. */
export interface IndexSpaces {
  readonly functions: number;
  readonly globals: number;
}

/** Gathers segments and points of one function after the other. */
export class Segments {
  readonly points = new Integers();
  /** Units by segment, without those of its callees. */
  readonly units = new Integers();
  /** By open block: whether it is a loop, and its first segment (for a loop the surrounding one). */
  readonly #blocks = new Integers();

  /**
   * @param walker at the function's first instruction
   * @throws WasmLoadError
   */
  scan(
    walker: InstructionWalker,
    fn: { index: number; locals: number; start: number; end: number },
    spaces: IndexSpaces,
  ): FunctionCode {
    const { points, units } = this;
    const blocks = this.#blocks;
    const code = walker.position;
    const firstPoint = points.length;
    const firstSegment = units.length;
    let copies = false;
    let isPlain = true;
    let current = this.#open(code, POINT.entry);
    // Units of the open segment, while instructions only have weights.
    let used = 0;
    let depth = 1;
    while (walker.seek(ALL_CODES)) {
      const instruction = walker.code;
      const weight = WEIGHTS[instruction] ?? 0;
      if (weight > 0) {
        if (current === NONE || (used > 0 && used + weight > LARGEST_SEGMENT)) {
          if (current !== NONE) units.set(current, used);
          current = this.#open(walker.start, POINT.charge);
          used = 0;
        }
        used += weight;
      }
      const kind = KINDS[instruction];
      if (kind === PLAIN) continue;
      if (kind === LOCAL) {
        if (walker.index >= fn.locals) throw outOfRange(walker, "local");
        continue;
      }
      if (kind === GLOBAL) {
        if (walker.index >= spaces.globals) throw outOfRange(walker, "global");
        continue;
      }
      if (current !== NONE) units.set(current, used);
      switch (instruction) {
        // The most frequent ones first, which saves comparisons while this code is interpreted.
        case OP.end:
        case OP.delegate: {
          depth--;
          if (depth === 0) {
            if (!walker.done) throw new WasmLoadError("wasm-invalid", "invalid wasm file: code behind its end");
            this.#point(walker.start, POINT.exit, 0, current);
            break;
          }
          const began = blocks.pop();
          const isLoop = blocks.pop() === 1;
          if (isLoop) current = began;
          else if (began !== current) current = NONE;
          break;
        }
        case OP.brIf:
        case OP.br:
          if (walker.index >= depth - 1) this.#point(walker.start, POINT.exit, 0, current);
          break;
        case OP.block:
        case OP.if:
        case OP.try:
        case OP.tryTable:
          if (instruction === OP.try || instruction === OP.tryTable) isPlain = false;
          blocks.push(0);
          blocks.push(current);
          depth++;
          break;
        case OP.call:
          this.#point(walker.start, POINT.beforeCall, walker.index, current);
          this.#name(walker, spaces, POINT.callee, current);
          this.#point(walker.position, POINT.behindCall, walker.index, current);
          break;
        case OP.loop:
          blocks.push(1);
          blocks.push(current);
          depth++;
          current = this.#open(walker.position, POINT.charge);
          break;
        case OP.returnCall:
          this.#point(walker.start, POINT.exit, walker.index, current);
          this.#name(walker, spaces, POINT.callee, current);
          break;
        case OP.refFunc:
          this.#name(walker, spaces, POINT.functionIndex, current);
          break;
        case OP.brTable:
        case OP.return:
        case OP.returnCallIndirect:
        case OP.returnCallRef:
        case OP.throw:
        case OP.rethrow:
        case OP.throwRef:
          this.#point(walker.start, POINT.exit, 0, current);
          break;
        case OP.callIndirect:
        case OP.callRef:
          this.#point(walker.start, POINT.beforeCall, UNKNOWN, current);
          this.#point(walker.position, POINT.behindCall, UNKNOWN, current);
          break;
        case OP.brOnNull:
        case OP.brOnNonNull:
        case OP.brOnCast:
        case OP.brOnCastFail:
          isPlain = false;
          break;
        case OP.else:
        case OP.catch:
        case OP.catchAll:
          if (blocks.at(blocks.length - 1) !== current) current = NONE;
          break;
        case OP.memorySize:
        case OP.memoryGrow:
          // There is no other memory: the engine refuses references to one.
          if (walker.index === 0) this.#point(walker.start, POINT.memorySize, instruction, current);
          break;
        default:
          if (BULK.get(instruction) === "bytes") copies = true;
          if (BULK.has(instruction)) this.#point(walker.start, POINT.bulk, instruction, current);
      }
      used = current === NONE ? 0 : units.at(current);
    }
    if (current !== NONE) units.set(current, used);
    if (depth !== 0) throw new WasmLoadError("wasm-invalid", "invalid wasm file: it does not end");
    const { length: endPoint } = points;
    const endSegment = units.length;
    return { ...fn, code, firstSegment, endSegment, firstPoint, endPoint, copies, isPlain };
  }

  #open(at: number, what: number): number {
    const segment = this.units.length;
    this.units.push(0);
    this.#point(at, what, segment, segment);
    return segment;
  }

  /** Notes a function's index in the code. */
  #name(walker: InstructionWalker, spaces: IndexSpaces, what: number, segment: number): void {
    if (walker.index >= spaces.functions) throw outOfRange(walker, "function");
    this.#point(walker.indexAt, what, walker.index, segment);
  }

  #point(at: number, what: number, value: number, segment: number): void {
    this.points.push(at);
    this.points.push(what);
    this.points.push(value);
    this.points.push(segment);
  }
}

/** Checked here, because after metering the entries behind the last one are the meter's. */
function outOfRange(walker: InstructionWalker, what: string): WasmLoadError {
  return new WasmLoadError(
    "wasm-invalid",
    `invalid wasm file: the instruction at offset ${walker.start} names ${what} ${walker.index}, which is not there`,
  );
}
