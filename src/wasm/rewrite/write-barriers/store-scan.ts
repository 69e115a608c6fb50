/**
 * Finds the places where functions must mark their writes.
 *
 * Most code writes through locals: a frame's pointer, an object's address. A mark behind every definition of such a local covers all writes at its
 * values, and shortly behind them; a mark before a store covers that store, and later ones with the same address. For each local the cheaper one is
 * chosen (`store-events.ts`). To find the source of a store's address, the operands are followed; where that fails, the function marks the whole
 * memory at its entry.
 */
import type { InstructionWalker } from "../binary/instruction-walker.js";
import { OP } from "../binary/instructions.js";
import { Integers } from "../binary/integers.js";
import { DEPENDS, left, NO_STORE, OPERANDS_OF, STORES, taken } from "../binary/operands.js";
import type { FunctionType } from "../binary/types.js";
import { FARTHEST } from "./marking.js";
import { CONSTANT, NOWHERE, OperandStack, UNKNOWN } from "./operand-stack.js";
import { blockTypeAt, constantAt, known, offsetAt, UnknownCode, writesElsewhere } from "./store-code.js";
import { MARK, StoreEvents } from "./store-events.js";

/** Assumed rounds of a loop, as a power of two. */
const ROUNDS_SHIFT = 3;
/** Most nested loops that count. */
const DEEPEST = 6;
/** Numbers of an open block: whether it is a loop, the height below its operands, the operands that it pops and pushes, its serial number. */
const BLOCK_SIZE = 5;

/** Types that code refers to by index. */
export interface TypeSpaces {
  readonly types: readonly (FunctionType | undefined)[];
  /** By function, its type's index. */
  readonly functionTypes: readonly number[];
}

/** A function's code. */
export interface FunctionToScan {
  readonly index: number;
  /** Parameters and locals together. */
  readonly locals: number;
  readonly code: number;
  readonly end: number;
}

/** Scans one function after the other. */
export class StoreScan {
  /** Marks of all functions so far. */
  readonly marks = new Integers();
  readonly #bytes: Uint8Array;
  readonly #spaces: TypeSpaces;
  readonly #stack = new OperandStack();
  readonly #blocks = new Integers();
  readonly #events = new StoreEvents();
  /** By local: the version of its value, the version that a store's mark covers, and the position and block of that mark. */
  #versions = new Int32Array(0);
  #covered = new Int32Array(0);
  #coveredAt = new Int32Array(0);
  #coveredIn = new Int32Array(0);
  #clock = 0;
  /** Begin of the innermost or last loop: earlier marks don't cover its next round. */
  #loopBegan = 0;
  #loops = 0;

  constructor(bytes: Uint8Array, spaces: TypeSpaces) {
    this.#bytes = bytes;
    this.#spaces = spaces;
  }

  /** @param walker a walker of the same bytes */
  scan(walker: InstructionWalker, fn: FunctionToScan): void {
    const { parameters } = this.#spaces.types[this.#spaces.functionTypes[fn.index] ?? -1] ?? { parameters: [] };
    this.#begin(fn.locals);
    this.#events.begin(parameters.length, fn.code);
    walker.moveTo(fn.code, fn.end);
    try {
      this.#follow(walker, fn);
    } catch (error) {
      if (!(error instanceof UnknownCode)) throw error;
      this.#events.markAll(fn.code);
    }
    this.#events.addTo(this.marks);
  }

  #begin(locals: number): void {
    if (this.#versions.length < locals) {
      this.#versions = new Int32Array(locals);
      this.#covered = new Int32Array(locals);
      this.#coveredAt = new Int32Array(locals);
      this.#coveredIn = new Int32Array(locals);
    }
    this.#versions.fill(0, 0, locals);
    this.#covered.fill(-1, 0, locals);
    this.#stack.height = 0;
    this.#blocks.clear();
    this.#loopBegan = this.#clock;
    this.#loops = 0;
  }

  #follow(walker: InstructionWalker, fn: FunctionToScan): void {
    const stack = this.#stack;
    const type = known(this.#spaces.types[this.#spaces.functionTypes[fn.index] ?? -1]);
    this.#open(OP.block, { parameters: [], results: type.results }, fn.code);
    while (!walker.done) {
      walker.next();
      const { code } = walker;
      const above = STORES[code] ?? NO_STORE;
      if (above !== NO_STORE) this.#store(walker, stack.height - 1 - above);
      const entry = OPERANDS_OF[code] ?? DEPENDS;
      if (entry === DEPENDS) this.#control(walker);
      else if (code === OP.localGet) this.#pushLocal(walker.index, walker.position);
      else if (code === OP.localSet || code === OP.localTee) this.#define(walker, code === OP.localTee);
      else if (code === OP.i32Const) stack.push(CONSTANT, constantAt(this.#bytes, walker.start), 0, walker.position);
      else if (code === OP.i32Add || code === OP.i32Or) this.#add(walker);
      else {
        if (isBulk(code) && writesElsewhere(this.#bytes, walker)) throw new UnknownCode();
        this.#take(taken(entry));
        stack.pushUnknown(left(entry), walker.position);
      }
    }
  }

  #take(count: number): void {
    const stack = this.#stack;
    stack.height -= count;
    if (stack.height < this.#blocks.at(this.#blocks.length - BLOCK_SIZE + 1)) throw new UnknownCode();
  }

  #pushLocal(local: number, at: number): void {
    this.#stack.push(local, 0, this.#versions[local] ?? 0, at);
  }

  /** Gives a local the value on top. */
  #define({ index: local, position }: InstructionWalker, stays: boolean): void {
    const stack = this.#stack;
    this.#take(1);
    const top = stack.height;
    const base = stack.base(top);
    const added = stack.added(top);
    const version = stack.version(top);
    this.#events.define(local, position, this.#weight, base, added);
    this.#versions[local] = ++this.#clock;
    if (!stays) return;
    // Its source local is as good, unless it was just set.
    if (base !== UNKNOWN && base !== local) stack.push(base, added, version, position);
    else this.#pushLocal(local, position);
  }

  #add({ position }: InstructionWalker): void {
    const stack = this.#stack;
    this.#take(2);
    const one = stack.height;
    const [local, constant] = stack.base(one) === CONSTANT ? [one + 1, one] : [one, one + 1];
    const sum = stack.added(local) + stack.added(constant);
    const near = stack.base(local) >= 0 && stack.added(constant) >= 0 && sum <= FARTHEST;
    if (stack.base(constant) === CONSTANT && near) stack.push(stack.base(local), sum, stack.version(local), position);
    else stack.push(UNKNOWN, 0, 0, position);
  }

  /** @param address its index among the operands */
  #store(walker: InstructionWalker, address: number): void {
    const stack = this.#stack;
    if (address < this.#blocks.at(this.#blocks.length - BLOCK_SIZE + 1)) throw new UnknownCode();
    const offset = offsetAt(this.#bytes, walker);
    const local = stack.base(address);
    const added = stack.added(address);
    const at = stack.at(address);
    const weight = this.#weight;
    const events = this.#events;
    if (local === CONSTANT) {
      // Beyond 32 bits it traps.
      events.mark(walker.start, MARK.address, ((added >>> 0) + offset) | 0, weight);
      return;
    }
    if (at === NOWHERE) {
      events.mark(walker.start, MARK.all, 0, weight);
      return;
    }
    const reach = added + offset;
    if (local === UNKNOWN || reach > FARTHEST) {
      events.mark(at, MARK.top, offset > FARTHEST ? offset | 0 : 0, weight);
      return;
    }
    const version = stack.version(address);
    const isCovered = this.#isCovered(local, version);
    events.storeThrough({ at, local, weight, isCovered }, reach);
    if (isCovered || added > 0) return;
    this.#covered[local] = version;
    this.#coveredAt[local] = ++this.#clock;
    this.#coveredIn[local] = this.#blocks.length;
  }

  /** Whether every path to here has passed a mark of this value. */
  #isCovered(local: number, version: number): boolean {
    if (this.#covered[local] !== version) return false;
    const at = this.#coveredAt[local] ?? 0;
    const blocks = this.#coveredIn[local] ?? 0;
    // Blocks are numbered as they begin: the one in which it was marked must still be open, and have begun before.
    return at > this.#loopBegan && blocks <= this.#blocks.length && this.#blocks.at(blocks - 1) < at;
  }

  get #weight(): number {
    return 1 << (ROUNDS_SHIFT * Math.min(this.#loops, DEEPEST));
  }

  /** Handles blocks, branches and calls. */
  #control(walker: InstructionWalker): void {
    const { code, position } = walker;
    const { types, functionTypes } = this.#spaces;
    const stack = this.#stack;
    switch (code) {
      case OP.if:
        this.#take(1);
        this.#open(code, blockTypeAt(this.#bytes, walker, types), position);
        return;
      case OP.block:
      case OP.loop:
        this.#open(code, blockTypeAt(this.#bytes, walker, types), position);
        return;
      case OP.else:
        this.#checkHeight();
        this.#else(position);
        return;
      case OP.end:
        this.#checkHeight();
        this.#close(walker);
        return;
      case OP.brIf:
        this.#take(1);
        return;
      case OP.call:
        this.#call(types[functionTypes[walker.index] ?? -1], position);
        return;
      case OP.callIndirect:
        this.#take(1);
        this.#call(types[walker.index], position);
        return;
      case OP.unreachable:
      case OP.throw:
      case OP.br:
      case OP.brTable:
      case OP.return:
      case OP.returnCall:
      case OP.returnCallIndirect:
        stack.height = this.#blocks.at(this.#blocks.length - BLOCK_SIZE + 1);
        this.#skipDead(walker);
        return;
      default:
        // Exceptions that are caught, references of other kinds, objects.
        throw new UnknownCode();
    }
  }

  #call(callee: FunctionType | undefined, at: number): void {
    const { parameters, results } = known(callee);
    this.#take(parameters.length);
    this.#stack.pushUnknown(results.length, at);
  }

  #open(code: number, { parameters, results }: FunctionType, at: number): void {
    const stack = this.#stack;
    const blocks = this.#blocks;
    if (blocks.length > 0) this.#take(parameters.length);
    if (code === OP.loop) {
      this.#loops++;
      this.#loopBegan = ++this.#clock;
    }
    blocks.push(code);
    blocks.push(stack.height);
    blocks.push(parameters.length);
    blocks.push(results.length);
    blocks.push(++this.#clock);
    stack.pushUnknown(parameters.length, at);
  }

  #else(at: number): void {
    const blocks = this.#blocks;
    const first = blocks.length - BLOCK_SIZE;
    this.#stack.height = blocks.at(first + 1);
    this.#stack.pushUnknown(blocks.at(first + 2), at);
    blocks.set(blocks.length - 1, ++this.#clock);
  }

  #close({ position, done }: InstructionWalker): void {
    const blocks = this.#blocks;
    blocks.pop();
    const results = blocks.pop();
    blocks.pop();
    const height = blocks.pop();
    if (blocks.pop() === OP.loop) this.#loops--;
    if (blocks.length === 0 && !done) throw new UnknownCode();
    this.#stack.height = height;
    this.#stack.pushUnknown(results, position);
  }

  /** Checks the height behind a block: it leaves only its results. */
  #checkHeight(): void {
    const first = this.#blocks.length - BLOCK_SIZE;
    if (this.#stack.height !== this.#blocks.at(first + 1) + this.#blocks.at(first + 3)) throw new UnknownCode();
  }

  /** Continues where code is reachable again. */
  #skipDead(walker: InstructionWalker): void {
    let depth = 0;
    while (!walker.done) {
      walker.next();
      switch (walker.code) {
        case OP.block:
        case OP.loop:
        case OP.if:
          depth++;
          break;
        case OP.else:
          if (depth > 0) break;
          this.#else(walker.position);
          return;
        case OP.end:
          if (depth-- > 0) break;
          this.#close(walker);
          return;
        case OP.try:
        case OP.tryTable:
        case OP.catch:
        case OP.catchAll:
        case OP.delegate:
          throw new UnknownCode();
        default:
      }
    }
  }
}

function isBulk(code: number): boolean {
  return code === OP.memoryCopy || code === OP.memoryFill || code === OP.memoryInit;
}
