/**
 * Proves that a metered module pays for what it runs. It knows nothing of how the meter works but the sequences that charges are made of (`helpers.ts`), and
 * walks over the code from front to back: what is run until the next charge must have been paid by the one before.
 */

import { lowMarksName } from "../../../../src/wasm/names.js";
import { exportedFunctionTypes } from "../../../../src/wasm/rewrite/binary/function-types.js";
import { InstructionWalker } from "../../../../src/wasm/rewrite/binary/instruction-walker.js";
import { IMMEDIATES, IMMEDIATES_OF, OP } from "../../../../src/wasm/rewrite/binary/instructions.js";
import { Reader, skipValueType } from "../../../../src/wasm/rewrite/binary/reader.js";
import {
  bodyOf,
  readImports,
  readSections,
  SECTION_CODE,
  SECTION_FUNCTION,
  SECTION_IMPORT,
  SECTION_MEMORY,
} from "../../../../src/wasm/rewrite/binary/sections.js";
import { Writer } from "../../../../src/wasm/rewrite/binary/writer.js";
import {
  BULK,
  HELPERS,
  type Helper,
  indexOfHelper,
  type MeterIndices,
  PAID_BYTES,
  writeHelper,
} from "../../../../src/wasm/rewrite/meter/helpers.js";
import type { IndexSpaces } from "../../../../src/wasm/rewrite/meter/segments.js";
import { HOST_CALL_COST, UNCHARGED_COST, WEIGHTS } from "../../../../src/wasm/rewrite/meter/weights.js";
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
  const body = (id: number): Uint8Array => bodyOf(sections, id) ?? NO_ENTRIES;
  const imports = readImports(body(SECTION_IMPORT));
  const imported = imports.functions.length;
  const defined = new Reader(body(SECTION_FUNCTION), 0).unsigned();
  const code = readBodies(body(SECTION_CODE));
  const exported = exportedFunctionTypes(bytes);
  const levels = [0, 1].filter((level) => exported.has(lowMarksName(level)));
  const isMarked = levels.length > 0;
  // One function marks ranges, and two read the marks of each level.
  const own = defined - HELPERS.length - (isMarked ? 1 + 2 * levels.length : 0);
  if (code.length !== defined || own < 0) return "the helpers are missing";
  const fuel = fuelOf(code[own]);
  const indices: MeterIndices = {
    refill: imported - 1,
    helpers: imported + own,
    fuel,
    hasMemory: imports.memories + new Reader(body(SECTION_MEMORY), 0).unsigned() > 0,
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
    const marks = { globals: levels.map((level) => fuel + 1 + level), range: imported + own + HELPERS.length };
    const all = withCopies(steps(each), indices);
    const unmarked = isMarked ? rangeUnkept(all, marks.range, fuel) : undefined;
    if (unmarked !== undefined) return `function ${imported + number}: ${unmarked}`;
    const rest = isMarked ? withoutMarks(all, marks) : all;
    if (typeof rest === "string") return `function ${imported + number}: ${rest}`;
    // One function is the import that metering adds.
    const foreign = spaces && imported + number - 1 < spaces.functions ? ofTheHost(rest, spaces) : undefined;
    if (foreign !== undefined) return `function ${imported + number}: ${foreign}`;
    functions.push(rest);
  }
  return new Proof(functions, indices).problem();
}

/** Instructions in which a copy is one again that is done by a helper. */
function withCopies(all: readonly Step[], indices: MeterIndices): readonly Step[] {
  const copy = indexOfHelper(indices, "copy");
  return all.map((step) => (step.code === OP.call && step.value === copy ? { code: OP.memoryCopy, value: 0 } : step));
}

/** What is wrong with the marks of a function that keeps the fuel in a local: their helper is a call, too. */
function rangeUnkept(all: readonly Step[], range: number, fuel: number): string | undefined {
  const kept = all[3];
  // Where the fuel is not kept it is written at once.
  const isKept = all[0]?.code === OP.globalGet && all[0].value === fuel && kept?.code === OP.localTee;
  if (!isKept || all[4]?.code === OP.globalSet) return undefined;
  for (const [at, { code, value }] of all.entries()) {
    if (code !== OP.call || value !== range) continue;
    const [read, written] = [all[at - 2], all[at - 1]];
    const isWrittenBack = read?.code === OP.localGet && read.value === kept.value && written?.code === OP.globalSet;
    if (!isWrittenBack || written.value !== fuel) return `the fuel is not written back before the mark at ${at}`;
  }
  return undefined;
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

/** Calls of which nobody knows whom. */
const CALLS_UNKNOWN: ReadonlySet<number> = new Set([
  OP.callIndirect,
  OP.returnCallIndirect,
  OP.callRef,
  OP.returnCallRef,
]);
/** What leaves a function whatever its labels are, or may. */
const LEAVES: ReadonlySet<number> = new Set([
  ...[OP.return, OP.brTable, OP.throw, OP.rethrow, OP.throwRef],
  ...[OP.returnCall, OP.returnCallIndirect, OP.returnCallRef],
]);
/** What a function that keeps the fuel in a local must not have: ways out, or in, that are not looked at here. */
const NOT_PLAIN: ReadonlySet<number> = new Set([
  OP.try,
  OP.tryTable,
  OP.brOnNull,
  OP.brOnNonNull,
  OP.brOnCast,
  OP.brOnCastFail,
]);

/** What is known of the functions that one calls. */
interface Callees {
  /** Undefined: not known yet. */
  costOf(callee: number): number | undefined;
  isSilent(callee: number): boolean;
}

class Proof {
  readonly #code: readonly (readonly Step[])[];
  readonly #indices: MeterIndices;
  /** By function, what it costs its callers: it is 0 for one that has a charge at its entry. */
  readonly #costs = new Map<number, number>();
  readonly #silent = new Map<number, boolean>();

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
    const callees = {
      costOf: (callee: number) => this.#costOf(callee),
      isSilent: (callee: number) => this.#isSilent(callee),
    };
    return new FunctionProof(this.#code[number] ?? [], this.#indices, callees).run();
  }

  /** Whether neither a function nor one that it calls touches the fuel; of one that calls itself that is not known. */
  #isSilent(callee: number): boolean {
    const known = this.#silent.get(callee);
    if (known !== undefined) return known;
    this.#silent.set(callee, false);
    const { refill, helpers, fuel } = this.#indices;
    const isSilent =
      callee > refill &&
      callee < helpers &&
      (this.#code[callee - refill - 1] ?? []).every(({ code, value }) => {
        if (CALLS_UNKNOWN.has(code)) return false;
        if (IMMEDIATES_OF[code] === IMMEDIATES.globalIndex) return value !== fuel;
        return code === OP.refFunc || IMMEDIATES_OF[code] !== IMMEDIATES.functionIndex || this.#isSilent(value);
      });
    this.#silent.set(callee, isSilent);
    return isSilent;
  }

  #costOf(callee: number): number | undefined {
    if (callee < this.#indices.refill) return HOST_CALL_COST;
    const known = this.#costs.get(callee);
    if (known !== undefined) return known;
    // One that is charged at its entry pays for itself, whatever else is found there.
    const callees = { costOf: () => 0, isSilent: () => false };
    const proof = new FunctionProof(this.#code[callee - this.#indices.refill - 1] ?? [], this.#indices, callees);
    return proof.paysAtEntry() ? 0 : undefined;
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
  /** The local that keeps the fuel; absent: the fuel itself is charged. */
  readonly kept?: number;
  /** Whether the fuel is read into that local. */
  readonly reads?: boolean;
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
  readonly #callees: Callees;
  /** The local that keeps the fuel, when one does. */
  #kept: number | undefined;

  constructor(all: readonly Step[], indices: MeterIndices, callees: Callees) {
    this.#steps = all;
    this.#indices = indices;
    this.#callees = callees;
  }

  paysAtEntry(): boolean {
    const charge = this.#chargeAt(0);
    return charge !== undefined && (charge.kept === undefined || charge.reads === true);
  }

  run(): Checked | string | undefined {
    const all = this.#steps;
    const blocks: Block[] = [];
    const entry: Segment = { paid: 0, used: 0 };
    let segment: Segment | undefined = entry;
    let charged = false;
    const scratches = new Set<number>();
    const named = new Set<number>();
    for (let at = 0; at < all.length; at++) {
      const step = all[at];
      if (!step) break;
      const charge = this.#chargeAt(at);
      if (charge) {
        if (charge.scratch !== undefined) scratches.add(charge.scratch);
        if (at === 0) {
          if (charge.kept !== undefined && charge.reads !== true) return "the fuel is not read at the entry";
          this.#kept = charge.kept;
          entry.paid = charge.units;
          charged = true;
        } else {
          if (charge.kept !== this.#kept || charge.reads === true) return `a charge of another kind at ${at}`;
          segment = { paid: charge.units, used: 0 };
        }
        at += charge.length - 1;
        continue;
      }
      const asked = this.#lengthAskedAt(at);
      if (asked) {
        scratches.add(asked.scratch);
        at += asked.length - 1;
        if (helperFor(all[at + 1]?.code ?? -1) !== "bytes") return `a helper is called for nothing at ${at}`;
        continue;
      }
      // What is kept is the fuel at any time, since nobody comes back without having it read.
      if (this.#isWrittenBackAt(at)) {
        at++;
        continue;
      }
      if (this.#isReadBackAt(at) && this.#isCall(all[at - 1])) {
        at++;
        continue;
      }
      const problem = this.#foreign(step) ?? this.#unkept(at, blocks.length);
      if (problem !== undefined) return problem;
      if (IMMEDIATES_OF[step.code] === IMMEDIATES.localIndex) named.add(step.value);
      if (helperFor(step.code) && !this.#bulkChargedBefore(at)) return `a bulk operation is not charged at ${at}`;
      const helper = this.#helperOf(step);
      if (helper !== undefined) {
        const next = all[at + (this.#kept === undefined ? 1 : 3)];
        // It adds the pages itself where their number is a global.
        if (helper === "pages" && this.#indices.size !== undefined) continue;
        if (!next || helperFor(next.code) !== helper) return `a helper is called for nothing at ${at}`;
        continue;
      }
      let weight = WEIGHTS[step.code] ?? 0;
      if (IMMEDIATES_OF[step.code] === IMMEDIATES.functionIndex && step.code !== OP.refFunc) {
        const cost = this.#callees.costOf(step.value);
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

  /** What is wrong with an instruction in a function that keeps the fuel in a local: others must find it in its global. */
  #unkept(at: number, depth: number): string | undefined {
    const step = this.#steps[at];
    if (this.#kept === undefined || !step) return undefined;
    if (NOT_PLAIN.has(step.code)) return `the fuel is kept in a local beside instruction ${step.code} at ${at}`;
    const isCall = this.#isCall(step);
    if ((isCall || this.#leaves(at, depth)) && !this.#isWrittenBackAt(at - 2))
      return `the fuel is not written back before ${at}`;
    const comesBack = isCall && !LEAVES.has(step.code) && !this.#callees.isSilent(step.value);
    return comesBack && !this.#isReadBackAt(at + 1) ? `the fuel is not read behind ${at}` : undefined;
  }

  #isCall(step: Step | undefined): boolean {
    if (!step) return false;
    if (CALLS_UNKNOWN.has(step.code)) return true;
    return IMMEDIATES_OF[step.code] === IMMEDIATES.functionIndex && step.code !== OP.refFunc;
  }

  /** Whether the function may end with an instruction. @param depth how many blocks are open there */
  #leaves(at: number, depth: number): boolean {
    const step = this.#steps[at];
    if (!step) return false;
    if (LEAVES.has(step.code) || at === this.#steps.length - 1) return true;
    return (step.code === OP.br || step.code === OP.brIf) && step.value >= depth;
  }

  #isWrittenBackAt(at: number): boolean {
    return this.#kept !== undefined && this.#matches(at, this.#writesBack(this.#kept));
  }

  #isReadBackAt(at: number): boolean {
    return this.#kept !== undefined && this.#matches(at, this.#readsBack(this.#kept));
  }

  readonly #writesBack = (kept: number): number[] => [OP.localGet, kept, OP.globalSet, this.#indices.fuel];
  readonly #readsBack = (kept: number): number[] => [OP.globalGet, this.#indices.fuel, OP.localSet, kept];

  /** Only charges may touch what they keep. */
  #foreign({ code, value }: Step): string | undefined {
    if (IMMEDIATES_OF[code] === IMMEDIATES.globalIndex && value >= this.#indices.fuel) return "the fuel is touched";
    if (IMMEDIATES_OF[code] === IMMEDIATES.localIndex && value === this.#kept) return "the kept fuel is touched";
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
    const kept = this.#kept;
    const asks = [OP.localTee, scratch, OP.localGet, scratch, OP.i32Const, PAID_BYTES, OP.i32GtU, -1, OP.if, -1];
    const charges = [
      ...[OP.localGet, scratch],
      ...(kept === undefined ? [] : this.#writesBack(kept)),
      ...[OP.call, bytes],
      ...(kept === undefined ? [] : this.#readsBack(kept)),
      ...[OP.drop, -1, OP.end, -1],
    ];
    const pattern = [...asks, ...charges];
    return this.#matches(at, pattern) ? { scratch, length: pattern.length / 2 } : undefined;
  }

  #bulkChargedBefore(at: number): boolean {
    const helper = helperFor(this.#steps[at]?.code ?? -1);
    if (helper === "bytes" && this.#lengthAskedAt(at - (this.#kept === undefined ? 9 : 13))) return true;
    const before = this.#steps[at - (this.#kept === undefined ? 1 : 3)];
    return before?.code === OP.call && this.#helperOf(before) === helper;
  }

  /** The charge that begins here, if one does. */
  #chargeAt(at: number): Charge | undefined {
    const { fuel } = this.#indices;
    const first = this.#steps[at];
    const units = this.#steps[at + 1];
    if (!first || units?.code !== OP.i32Const) return undefined;
    const local = this.#steps[at + 3]?.value ?? -1;
    const charge = indexOfHelper(this.#indices, "charge");
    const fromFuel = [OP.globalGet, fuel, OP.i32Const, -1, OP.i32Sub, -1];
    const fromKept = [OP.localGet, local, OP.i32Const, -1, OP.i32Sub, -1];
    const ifBelow = [OP.i32Const, 0, OP.i32LtS, -1, OP.if, -1];
    const refilled = [OP.call, charge];
    const end = [OP.end, -1];
    const kept = [...this.#writesBack(local), ...refilled, ...this.#readsBack(local), ...end];
    const forms: readonly (readonly [pattern: readonly number[], charge: Omit<Charge, "units" | "length">])[] = [
      [[...fromFuel, OP.globalSet, fuel, OP.globalGet, fuel, ...ifBelow, ...refilled, ...end], {}],
      [
        [...fromFuel, OP.localTee, local, OP.globalSet, fuel, OP.localGet, local, ...ifBelow, ...refilled, ...end],
        { scratch: local },
      ],
      [[...fromFuel, OP.localTee, local, ...ifBelow, ...kept], { kept: local, reads: true }],
      [[...fromKept, OP.localTee, local, ...ifBelow, ...kept], { kept: local }],
    ];
    for (const [pattern, found] of forms)
      if (this.#matches(at, pattern)) return { units: units.value, length: pattern.length / 2, ...found };
    return undefined;
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
