/**
 * Random modules of small functions that call one another, written byte by byte: with values on the stack below a block, branches with values, code that nothing
 * reaches, locals that are read before they are set. All of them end.
 */
import { OP } from "../../../../src/wasm/rewrite/binary/instructions.js";
import { Writer } from "../../../../src/wasm/rewrite/binary/writer.js";
import { type Random, random } from "../../../fuzz/random.js";

const FUNCTIONS = 8;
const TYPES = [0x7f, 0x7e, 0x7d, 0x7c] as const;
/** Blocks and operands within one another. */
const DEPTH = 4;
/** Rounds of a loop, so that what is expanded in it runs again. */
const ROUNDS = 3;
const NO_RESULT = 0x40;
/** By type: what adds two of it, what makes an i32 of it, what it is made of an i32 with. */
const ADD: Readonly<Record<number, number>> = { 127: 0x6a, 126: 0x7c, 125: 0x92, 124: 0xa0 };
const TO_I32: Readonly<Record<number, readonly number[]>> = {
  127: [],
  126: [0xa7],
  125: [0xfc, 0x00],
  124: [0xfc, 0x02],
};
const FROM_I32: Readonly<Record<number, readonly number[]>> = { 127: [], 126: [0xac], 125: [0xb2], 124: [0xb7] };
const HOST = 0;
/** The functions with a loop: that others are expanded in, and that is expanded itself. */
const LOOPS: ReadonlySet<number> = new Set([0, 1, FUNCTIONS - 1]);

interface Signature {
  readonly parameters: readonly number[];
  readonly result: number;
}

/** The same module for the same seed: a memory, a global, a table, and functions that are all exported. */
export function randomFunctions(seed: number): Uint8Array<ArrayBuffer> {
  const below = random(seed);
  const type = () => TYPES[below(TYPES.length)] ?? 0x7f;
  const signatures: Signature[] = Array.from({ length: FUNCTIONS }, () => ({
    parameters: Array.from({ length: below(4) }, type),
    result: below(4) === 0 ? NO_RESULT : type(),
  }));
  const out = new Writer();
  out.raw([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  section(out, 1, [
    [0x60, 1, 0x7f, 0],
    ...signatures.map(({ parameters, result }) => [
      ...[0x60, parameters.length, ...parameters],
      ...(result === NO_RESULT ? [0] : [1, result]),
    ]),
  ]);
  section(out, 2, [[4, ...Buffer.from("host"), 4, ...Buffer.from("seen"), 0, HOST]]);
  section(
    out,
    3,
    signatures.map((_, number) => [number + 1]),
  );
  section(out, 4, [[0x70, 0, FUNCTIONS]]);
  section(out, 5, [[0, 1]]);
  section(out, 6, [[0x7f, 1, 0x41, 1, 0x0b]]);
  section(out, 7, [
    [6, ...Buffer.from("memory"), 2, 0],
    [1, 0x67, 3, 0],
    ...signatures.map((_, number) => [2, 0x66, 0x30 + number, 0, number + 1]),
  ]);
  section(out, 9, [[0, 0x41, 0, 0x0b, FUNCTIONS, ...signatures.map((_, number) => number + 1)]]);
  section(
    out,
    10,
    signatures.map((_, number) => {
      const body = new Body(signatures, number, below).write();
      const sized = new Writer();
      sized.block(body);
      return [...sized.view()];
    }),
  );
  return out.finish();
}

function section(out: Writer, id: number, entries: readonly (readonly number[])[]): void {
  const body = new Writer();
  body.unsigned(entries.length);
  for (const entry of entries) body.raw(entry);
  out.section(id, body.view());
}

/** The code of one function, which only calls those behind it. */
class Body {
  readonly #out = new Writer();
  readonly #signatures: readonly Signature[];
  readonly #number: number;
  readonly #below: Random;
  readonly #locals: number[];
  /** By label, the innermost last, the type of what a branch to it brings. */
  readonly #labels: number[];
  readonly #own: number[];
  #depth = 0;

  constructor(signatures: readonly Signature[], number: number, below: Random) {
    this.#signatures = signatures;
    this.#number = number;
    this.#below = below;
    this.#own = Array.from({ length: below(4) }, () => TYPES[below(TYPES.length)] ?? 0x7f);
    this.#locals = [...this.#signature.parameters, ...this.#own];
    this.#labels = [this.#signature.result];
  }

  get #signature(): Signature {
    return this.#signatures[this.#number] ?? { parameters: [], result: NO_RESULT };
  }

  write(): Uint8Array {
    const counter = LOOPS.has(this.#number) ? this.#locals.length : -1;
    if (counter >= 0) {
      this.#out.raw([OP.block, NO_RESULT, OP.loop, NO_RESULT]);
      this.#labels.push(NO_RESULT, -1);
    }
    for (let left = 1 + this.#below(3); left > 0; left--) this.#statement();
    if (counter >= 0) {
      const counted = [OP.localGet, counter, OP.i32Const, 1, OP.i32Add, OP.localTee, counter];
      this.#out.raw([...counted, OP.i32Const, ROUNDS, OP.i32LtU, OP.brIf, 0, OP.end, OP.end]);
      this.#labels.length -= 2;
    }
    if (this.#signature.result !== NO_RESULT) this.#value(this.#signature.result);
    const types = counter < 0 ? this.#own : [...this.#own, 0x7f];
    const whole = new Writer();
    whole.raw([types.length, ...types.flatMap((type) => [1, type])]);
    whole.raw(this.#out.view());
    whole.byte(OP.end);
    return whole.finish();
  }

  #statement(): void {
    const out = this.#out;
    const below = this.#below;
    switch (this.#depth >= DEPTH ? below(3) : below(11)) {
      case 0:
        this.#value(0x7f);
        out.raw([OP.globalGet, 0, OP.i32Add, OP.globalSet, 0]);
        return;
      case 1:
        this.#address();
        this.#value(0x7f);
        out.raw([0x36, 2, 0]);
        return;
      case 2: {
        const local = below(Math.max(1, this.#locals.length));
        const type = this.#locals[local];
        if (type === undefined) return;
        this.#value(type);
        out.raw([OP.localSet, local]);
        return;
      }
      case 3:
      case 4: {
        const result = this.#call();
        if (result !== NO_RESULT) out.byte(OP.drop);
        return;
      }
      case 5:
      case 6:
        out.raw([OP.block, NO_RESULT]);
        this.#within(NO_RESULT, () => this.#statements());
        return;
      case 7:
        this.#value(0x7f);
        out.raw([OP.if, NO_RESULT]);
        this.#within(NO_RESULT, () => {
          this.#statements();
          if (below(2) === 0) return;
          out.byte(OP.else);
          this.#statements();
        });
        return;
      case 8: {
        const { result } = this.#signature;
        this.#value(0x7f);
        out.raw([OP.if, NO_RESULT]);
        this.#within(NO_RESULT, () => {
          if (below(2) === 0) this.#value(0x7f);
          if (result !== NO_RESULT) this.#value(result);
          out.byte(OP.return);
          // Nobody comes here, and the stack may hold anything.
          if (below(2) === 0) this.#statements();
        });
        return;
      }
      default:
        this.#branch();
    }
  }

  #statements(): void {
    for (let left = 1 + this.#below(2); left > 0; left--) this.#statement();
  }

  #within(label: number, write: () => void): void {
    this.#labels.push(label);
    this.#depth++;
    write();
    this.#depth--;
    this.#labels.pop();
    this.#out.byte(OP.end);
  }

  /** A branch outwards, by a condition or by a table whose labels take the same. */
  #branch(): void {
    const out = this.#out;
    const label = this.#below(this.#labels.length);
    const type = this.#labels.at(-1 - label) ?? NO_RESULT;
    if (type < 0) return;
    if (this.#below(2) === 0) {
      if (type !== NO_RESULT) this.#value(type);
      this.#value(0x7f);
      out.raw([OP.brIf, label]);
      if (type !== NO_RESULT) out.byte(OP.drop);
      return;
    }
    const same = this.#labels.length - 1 - this.#labels.indexOf(type);
    out.raw([OP.block, NO_RESULT]);
    this.#within(NO_RESULT, () => {
      this.#value(0x7f);
      out.raw([OP.i32Const, 3, 0x71, OP.brIf, 0]);
      if (type !== NO_RESULT) this.#value(type);
      this.#value(0x7f);
      out.raw([OP.brTable, 1, label + 1, same + 1]);
    });
  }

  #address(): void {
    this.#value(0x7f);
    this.#out.raw([OP.i32Const, 0xfc, 0x01, 0x71]);
  }

  #value(type: number): void {
    const out = this.#out;
    const below = this.#below;
    this.#depth++;
    switch (this.#depth >= DEPTH ? below(3) : below(9)) {
      case 0:
        out.raw([OP.i32Const, below(64), ...(FROM_I32[type] ?? [])]);
        break;
      case 1:
      case 2:
        this.#local(type);
        break;
      case 3:
        this.#value(type);
        this.#value(type);
        out.byte(ADD[type] ?? 0);
        break;
      case 4:
        this.#address();
        out.raw([0x2d, 0, 0, ...(FROM_I32[type] ?? [])]);
        break;
      case 5:
        out.raw([OP.block, type]);
        this.#within(type, () => {
          this.#statements();
          this.#value(type);
        });
        break;
      case 6:
        this.#value(0x7f);
        out.raw([OP.if, type]);
        this.#within(type, () => {
          this.#value(type);
          out.byte(OP.else);
          this.#value(type);
        });
        break;
      default: {
        const result = this.#call();
        if (result === NO_RESULT) this.#local(type);
        else out.raw([...(TO_I32[result] ?? []), ...(FROM_I32[type] ?? [])]);
      }
    }
    this.#depth--;
  }

  /** A local of the type, set or not; a number when there is none. */
  #local(type: number): void {
    const local = this.#locals.indexOf(type, this.#below(this.#locals.length + 1));
    if (local < 0) this.#out.raw([OP.i32Const, 7, ...(FROM_I32[type] ?? [])]);
    else {
      this.#out.raw([OP.localGet, local]);
      if (this.#below(3) === 0) this.#out.raw([OP.localTee, local]);
    }
  }

  /** @returns the type of what it leaves */
  #call(): number {
    const out = this.#out;
    const callee = this.#number + 1 + this.#below(FUNCTIONS - this.#number);
    const signature = this.#signatures[callee];
    if (!signature) {
      this.#value(0x7f);
      out.raw([OP.call, HOST]);
      return NO_RESULT;
    }
    for (const type of signature.parameters) this.#value(type);
    if (this.#below(6) === 0) out.raw([OP.i32Const, callee, OP.callIndirect, callee + 1, 0]);
    else out.raw([OP.call, callee + 1]);
    return signature.result;
  }
}
