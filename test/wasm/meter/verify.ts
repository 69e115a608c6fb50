/**
 * Proves that a metered module pays for what it runs. It knows nothing of how the meter works but the sequences that charges are made of (`helpers.ts`), and
 * walks over the code from front to back: what is run until the next charge must have been paid by the one before.
 */

import { exportedFunctionTypes } from "../../../src/wasm/binary/function-types.js";
import { InstructionWalker } from "../../../src/wasm/binary/instruction-walker.js";
import { IMMEDIATES, IMMEDIATES_OF, OP } from "../../../src/wasm/binary/instructions.js";
import { Reader, skipValueType } from "../../../src/wasm/binary/reader.js";
import {
  readImports,
  readSections,
  SECTION_CODE,
  SECTION_FUNCTION,
  SECTION_IMPORT,
} from "../../../src/wasm/binary/sections.js";
import { Writer } from "../../../src/wasm/binary/writer.js";
import { LOW_MARKS_NAME } from "../../../src/wasm/guest/names.js";
import {
  BULK,
  HEAD_START,
  HELPERS,
  type Helper,
  indexOfHelper,
  type MeterIndices,
  PAID_BYTES,
  writeHelper,
} from "../../../src/wasm/meter/helpers.js";
import { MARK_HELPERS } from "../../../src/wasm/meter/marks/write-marks.js";
import type { IndexSpaces } from "../../../src/wasm/meter/segments.js";
import { HOST_CALL_COST, UNCHARGED_COST, WEIGHTS } from "../../../src/wasm/meter/weights.js";
import { type Step, withoutMarks } from "./without-marks.js";

/** What a walk over a function finds. */
interface Checked {
  /** Units that nothing has paid for, from the entry to the first charge: those of a function that its callers pay for. */
  readonly unpaid: number;
}

const NO_ENTRIES = Uint8Array.of(0);

/**
 * Checks a metered module.
 * @param spaces how many functions and globals its guest has, when the pages of its memory are in the first global behind them
 * @returns what is wrong, or undefined when every function, loop and bulk operation is paid for
 */
export function verifyMetered(bytes: Uint8Array, spaces?: IndexSpaces): string | undefined {
  const sections = readSections(bytes);
  const body = (id: number): Uint8Array => sections.find((section) => section.id === id)?.body ?? NO_ENTRIES;
  const imported = readImports(body(SECTION_IMPORT)).functions.length;
  const defined = new Reader(body(SECTION_FUNCTION), 0).unsigned();
  const code = readBodies(body(SECTION_CODE));
  const isMarked = exportedFunctionTypes(bytes).has(LOW_MARKS_NAME);
  const own = defined - HELPERS.length - (isMarked ? MARK_HELPERS.length : 0);
  if (code.length !== defined || own < 0) return "the helpers are missing";
  const fuel = fuelOf(code[own]);
  const indices: MeterIndices = {
    refill: imported - 1,
    helpers: imported + own,
    fuel,
    ...(spaces && { size: spaces.globals }),
  };
  for (const [number, helper] of HELPERS.entries()) {
    const expected = new Writer();
    writeHelper(expected, helper, indices);
    if (Buffer.compare(code[own + number] ?? NO_ENTRIES, expected.view()) !== 0)
      return `the helper ${helper} is another`;
  }
  const functions: (readonly Step[])[] = [];
  for (const [number, each] of code.slice(0, own).entries()) {
    const marks = { global: fuel + 1, range: imported + own + HELPERS.length };
    const rest = isMarked ? withoutMarks(steps(each), marks) : steps(each);
    if (typeof rest === "string") return `function ${imported + number}: ${rest}`;
    // One function is the import that metering adds.
    const foreign = spaces && imported + number - 1 < spaces.functions ? ofTheHost(rest, spaces) : undefined;
    if (foreign !== undefined) return `function ${imported + number}: ${foreign}`;
    functions.push(rest);
  }
  return new Proof(functions, indices).problem();
}

/** What a guest's own function may not do where its memory's size is a global. */
function ofTheHost(all: readonly Step[], { globals }: IndexSpaces): string | undefined {
  for (const { code, value } of all) {
    if (code === OP.memorySize || code === OP.memoryGrow) return "the memory itself is asked for its size";
    if (code === OP.globalSet && value === globals) return "the memory's size is set";
  }
  return undefined;
}

/** The helper that charges for an instruction by its length. */
const helperFor = (code: number): Helper | undefined => (code === OP.memoryGrow ? "pages" : BULK.get(code));

/** The global that the first helper refills. */
function fuelOf(charge: Uint8Array | undefined): number {
  if (!charge) return -1;
  const walker = new InstructionWalker(charge, 3, charge.length);
  while (!walker.done) {
    walker.next();
    if (walker.code === OP.globalGet) return walker.index;
  }
  return -1;
}

function readBodies(section: Uint8Array): readonly Uint8Array[] {
  const reader = new Reader(section, 0);
  const found: Uint8Array[] = [];
  for (let left = reader.unsigned(); left > 0; left--) found.push(reader.bytes(reader.unsigned()));
  return found;
}

class Proof {
  readonly #code: readonly (readonly Step[])[];
  readonly #indices: MeterIndices;
  /** By function, what it costs its callers: it is 0 for one that has a charge at its entry. */
  readonly #costs = new Map<number, number>();

  constructor(code: readonly (readonly Step[])[], indices: MeterIndices) {
    this.#code = code;
    this.#indices = indices;
  }

  problem(): string | undefined {
    const pending = new Set(this.#code.keys());
    // A function without a charge may only call functions that are known to be paid for, so it is looked at behind them. Whatever is left is a cycle.
    for (let before = -1; before !== pending.size; ) {
      before = pending.size;
      for (const number of pending) {
        const checked = this.#check(number);
        if (checked === undefined) continue;
        if (typeof checked === "string") return `function ${this.#indexOf(number)}: ${checked}`;
        this.#costs.set(this.#indexOf(number), checked.unpaid);
        pending.delete(number);
      }
    }
    for (const number of pending) return `function ${this.#indexOf(number)} calls itself and nothing is charged`;
    return undefined;
  }

  #indexOf(number: number): number {
    return this.#indices.refill + 1 + number;
  }

  /** @returns undefined when it depends on a function without a charge that was not looked at yet */
  #check(number: number): Checked | string | undefined {
    return new FunctionProof(this.#code[number] ?? [], this.#indices, (callee) => this.#costOf(callee)).run();
  }

  #costOf(callee: number): number | undefined {
    if (callee < this.#indices.refill) return HOST_CALL_COST;
    const known = this.#costs.get(callee);
    if (known !== undefined) return known;
    // One that is charged at its entry pays for itself, whatever else is found there.
    return new FunctionProof(this.#code[callee - this.#indices.refill - 1] ?? [], this.#indices, () => 0).paysAtEntry()
      ? 0
      : undefined;
  }
}

/** The instructions of a body. */
function steps(body: Uint8Array): readonly Step[] {
  const reader = new Reader(body, 0);
  for (let groups = reader.unsigned(); groups > 0; groups--) {
    reader.unsigned();
    skipValueType(reader);
  }
  const walker = new InstructionWalker(body, reader.position, body.length);
  const found: Step[] = [];
  while (!walker.done) {
    walker.next();
    found.push({
      code: walker.code,
      value: walker.code === OP.i32Const ? constantAt(body, walker.start) : walker.index,
    });
  }
  return found;
}

/** The value of a non-negative i32.const. */
function constantAt(body: Uint8Array, start: number): number {
  return new Reader(body, start + 1).unsigned();
}

/** A charge found in the code. */
interface Charge {
  readonly units: number;
  /** The local that is charged, undefined for the fuel. */
  readonly local: number | undefined;
  /** The local that it uses for something else, which no code of the guest may. */
  readonly scratch?: number;
  /** Instructions that it takes. */
  readonly length: number;
}

/** One open block: what had been charged when it began. */
interface Block {
  readonly loop: boolean;
  readonly segment: Segment | undefined;
}

interface Segment {
  paid: number;
  used: number;
}

class FunctionProof {
  readonly #steps: readonly Step[];
  readonly #indices: MeterIndices;
  readonly #costOf: (callee: number) => number | undefined;

  constructor(all: readonly Step[], indices: MeterIndices, costOf: (callee: number) => number | undefined) {
    this.#steps = all;
    this.#indices = indices;
    this.#costOf = costOf;
  }

  paysAtEntry(): boolean {
    return this.#chargeAt(0)?.local === undefined && this.#chargeAt(0) !== undefined;
  }

  run(): Checked | string | undefined {
    const all = this.#steps;
    const blocks: Block[] = [];
    const entry: Segment = { paid: 0, used: 0 };
    let segment: Segment | undefined = entry;
    let advance: number | undefined;
    let charged = false;
    const scratches = new Set<number>();
    const named = new Set<number>();
    for (let at = 0; at < all.length; at++) {
      const step = all[at];
      if (!step) break;
      const charge = this.#chargeAt(at);
      if (charge) {
        if (charge.scratch !== undefined) scratches.add(charge.scratch);
        if (charge.local !== advance) return `a charge of another local at ${at}`;
        at += charge.length - 1;
        let paid = charge.units;
        if (at === charge.length - 1) {
          const head = this.#headStartAt(at + 1);
          if (head !== undefined) {
            advance = head;
            at += 2;
            paid -= HEAD_START;
          }
          entry.paid = paid;
          charged = true;
        } else segment = { paid, used: 0 };
        continue;
      }
      const asked = this.#lengthAskedAt(at);
      if (asked) {
        scratches.add(asked.scratch);
        at += asked.length - 1;
        if (helperFor(all[at + 1]?.code ?? -1) !== "bytes") return `a helper is called for nothing at ${at}`;
        continue;
      }
      const problem = this.#foreign(step, advance);
      if (problem !== undefined) return problem;
      if (IMMEDIATES_OF[step.code] === IMMEDIATES.localIndex) named.add(step.value);
      if (helperFor(step.code) && !this.#bulkChargedBefore(at)) return `a bulk operation is not charged at ${at}`;
      const helper = this.#helperOf(step);
      if (helper !== undefined) {
        const next = all[at + 1];
        // It adds the pages itself where their number is a global.
        if (helper === "pages" && this.#indices.size !== undefined) continue;
        if (!next || helperFor(next.code) !== helper) return `a helper is called for nothing at ${at}`;
        continue;
      }
      let weight = WEIGHTS[step.code] ?? 0;
      if (IMMEDIATES_OF[step.code] === IMMEDIATES.functionIndex && step.code !== OP.refFunc) {
        const cost = this.#costOf(step.value);
        if (cost === undefined) return undefined;
        weight += cost;
      }
      if (weight > 0) {
        if (!segment) return `what can be jumped to is not charged at ${at}`;
        segment.used += weight;
        if (segment.used > segment.paid && (segment !== entry || charged))
          return `more is run than was charged at ${at}: ${segment.used} for ${segment.paid}`;
      }
      switch (step.code) {
        case OP.loop:
          blocks.push({ loop: true, segment });
          segment = { paid: 0, used: 0 };
          break;
        case OP.block:
        case OP.if:
        case OP.try:
        case OP.tryTable:
          blocks.push({ loop: false, segment });
          break;
        case OP.else:
        case OP.catch:
        case OP.catchAll:
          if (blocks.at(-1)?.segment !== segment) segment = undefined;
          break;
        case OP.end:
        case OP.delegate: {
          const block = blocks.pop();
          if (block?.loop) segment = block.segment;
          else if (block && block.segment !== segment) segment = undefined;
          break;
        }
        default:
      }
    }
    for (const scratch of scratches) if (named.has(scratch)) return `local ${scratch} is the guest's and a charge's`;
    const unpaid = charged ? 0 : entry.used;
    return unpaid > UNCHARGED_COST ? `${unpaid} units are run without a charge` : { unpaid };
  }

  /** Only charges may touch what they keep. */
  #foreign({ code, value }: Step, advance: number | undefined): string | undefined {
    if (IMMEDIATES_OF[code] === IMMEDIATES.globalIndex && value >= this.#indices.fuel) return "the fuel is touched";
    if (IMMEDIATES_OF[code] === IMMEDIATES.localIndex && value === advance) return "the advance is touched";
    if (IMMEDIATES_OF[code] === IMMEDIATES.functionIndex && value === this.#indices.refill) return "the host is asked";
    return undefined;
  }

  #helperOf({ code, value }: Step): string | undefined {
    if (IMMEDIATES_OF[code] !== IMMEDIATES.functionIndex || value < this.#indices.helpers) return undefined;
    return HELPERS[value - this.#indices.helpers];
  }

  /** Whether a charge begins here that asks for the length of an operation on memory, which only long ones are charged by. */
  #lengthAskedAt(at: number): { readonly scratch: number; readonly length: number } | undefined {
    const scratch = this.#steps[at]?.value ?? -1;
    const bytes = indexOfHelper(this.#indices, "bytes");
    const asks = [OP.localTee, scratch, OP.localGet, scratch, OP.i32Const, PAID_BYTES, OP.i32GtU, -1, OP.if, -1];
    const charges = [OP.localGet, scratch, OP.call, bytes, OP.drop, -1, OP.end, -1];
    return this.#matches(at, [...asks, ...charges]) ? { scratch, length: 9 } : undefined;
  }

  #bulkChargedBefore(at: number): boolean {
    if (helperFor(this.#steps[at]?.code ?? -1) === "bytes" && this.#lengthAskedAt(at - 9)) return true;
    const before = this.#steps[at - 1];
    const step = this.#steps[at];
    return (
      before !== undefined &&
      step !== undefined &&
      before.code === OP.call &&
      this.#helperOf(before) === helperFor(step.code)
    );
  }

  #headStartAt(at: number): number | undefined {
    const value = this.#steps[at];
    const set = this.#steps[at + 1];
    return value?.code === OP.i32Const && value.value === HEAD_START && set?.code === OP.localSet
      ? set.value
      : undefined;
  }

  /** The charge that begins here, if one does. */
  #chargeAt(at: number): Charge | undefined {
    const { fuel } = this.#indices;
    const first = this.#steps[at];
    const units = this.#steps[at + 1];
    if (!first || units?.code !== OP.i32Const) return undefined;
    const local = first.value;
    const charge = indexOfHelper(this.#indices, "charge");
    const prepay = indexOfHelper(this.#indices, "prepay");
    const fromFuel = [OP.globalGet, fuel, OP.i32Const, -1, OP.i32Sub, -1];
    const onFuel = [...fromFuel, OP.globalSet, fuel, OP.globalGet, fuel];
    const scratch = this.#steps[at + 3]?.value ?? -1;
    const onScratch = [...fromFuel, OP.localTee, scratch, OP.globalSet, fuel, OP.localGet, scratch];
    const onLocal = [OP.localGet, local, OP.i32Const, -1, OP.i32Sub, -1, OP.localTee, local];
    const ifBelow = [OP.i32Const, 0, OP.i32LtS, -1, OP.if, -1];
    const refilled = [OP.call, charge, OP.end, -1];
    const advanced = [OP.localGet, local, OP.call, prepay, OP.localSet, local, OP.end, -1];
    if (first.code === OP.globalGet && local === fuel && this.#steps[at + 3]?.code === OP.localTee)
      return this.#matches(at, [...onScratch, ...ifBelow, ...refilled])
        ? { units: units.value, local: undefined, scratch, length: 11 }
        : undefined;
    if (first.code === OP.globalGet && local === fuel)
      return this.#matches(at, [...onFuel, ...ifBelow, ...refilled])
        ? { units: units.value, local: undefined, length: 10 }
        : undefined;
    if (first.code !== OP.localGet) return undefined;
    return this.#matches(at, [...onLocal, ...ifBelow, ...advanced])
      ? { units: units.value, local, length: 11 }
      : undefined;
  }

  /** @param pattern pairs of code and value, -1 for any */
  #matches(at: number, pattern: readonly number[]): boolean {
    for (let index = 0; index < pattern.length; index += 2) {
      const step = this.#steps[at + index / 2];
      const value = pattern[index + 1];
      if (step?.code !== pattern[index] || (value !== -1 && step?.value !== value)) return false;
    }
    return true;
  }
}
