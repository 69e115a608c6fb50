/** Writes the metered code section: inserts charges, shifts function indices. */

import { WasmLoadError } from "../../errors.js";
import { InstructionWalker } from "../binary/instruction-walker.js";
import { OP } from "../binary/instructions.js";
import type { Integers } from "../binary/integers.js";
import { Reader, skipValueType } from "../binary/reader.js";
import { Writer } from "../binary/writer.js";
import type { Marking } from "../write-barriers/marking.js";
import { MARK, MARK_SIZE } from "../write-barriers/store-events.js";
import { StoreScan, type TypeSpaces } from "../write-barriers/store-scan.js";
import { type MarkIndices, markHelpers, markLevels, writeMark, writeRangeMark } from "../write-barriers/write-marks.js";
import {
  BULK,
  HELPERS,
  type MeterIndices,
  type Rarely,
  readBack,
  writeBack,
  writeBulkCharge,
  writeCharge,
  writeCopy,
  writeHelper,
  writeKeptCharge,
  writeSize,
} from "./helpers.js";
import { type FunctionCode, type IndexSpaces, POINT, POINT_SIZE, Segments } from "./segments.js";
import { CHARGED, payForCallees } from "./uncharged.js";

/** Bytes of a function's body beyond which V8 refuses it. */
const LARGEST_BODY = 7_654_321;
/** Parameters and locals of a function beyond which V8 refuses it. */
const MOST_LOCALS = 50_000;
/** Locals that may be added to a function: the fuel, one that charges use, and one that marks use. */
const ADDED_LOCALS = 3;
const I32 = 0x7f;
/** Bulk operations that write to a range of memory. */
const WRITES_RANGE: ReadonlySet<number> = new Set([OP.memoryInit, OP.memoryCopy, OP.memoryFill]);

const BRANCH_HINTS = "metadata.code.branch_hint";
/** A hint is one byte, and it is 0. */
const UNLIKELY = [1, 0] as const;

/** The functions of the code section. */
export interface CodeContext extends IndexSpaces, TypeSpaces {
  readonly importedFunctions: number;
  /** Index spaces of the guest's own functions. */
  readonly own: IndexSpaces;
  /** Number of parameters, by function that the module defines. */
  readonly parameters: readonly number[];
}

/** The metered code. */
export interface MeteredCode {
  /** The body of the code section. */
  readonly body: Uint8Array;
  /** The body of the custom section with hints of rarely taken branches (specification "Branch Hinting"), which comes before the code. */
  readonly hints: Uint8Array;
  /** Bits of the marks that are always set, by size of regions. */
  readonly always?: readonly bigint[];
}

/**
 * Writes the body of the code section.
 * @param bytes the module
 * @param at begin and end of its code section's body
 * @throws WasmLoadError
 */
export function meterCode(
  bytes: Uint8Array,
  at: { readonly start: number; readonly end: number },
  context: CodeContext,
  indices: MeterIndices,
  marking?: Marking,
): MeteredCode {
  const segments = new Segments();
  const functions = readFunctions(bytes, at, context, segments);
  const { costs, silent } = payForCallees(functions, segments, context.importedFunctions);
  const marks = marking && findMarks(bytes, functions, context, indices, marking);
  const out = new Writer(Math.ceil((at.end - at.start) * (marks ? 1.5 : 1.25)) + 1_024);
  const helpers = [
    ...HELPERS.map((helper) => (body: Writer) => writeHelper(body, helper, indices)),
    ...(marks ? markHelpers(marks.indices.levels) : []),
  ];
  out.unsigned(functions.length + helpers.length);
  const body = new Writer();
  const hints = new Hints();
  for (const [number, fn] of functions.entries()) {
    body.clear();
    const rarely: Rarely = [];
    const charged = (costs[fn.index] ?? CHARGED) === CHARGED;
    writeFunction(body, {
      bytes,
      segments,
      fn,
      indices,
      rarely,
      charged,
      silent,
      marks: marks && new MarkWriter(marks, number),
    });
    if (body.length > LARGEST_BODY)
      throw new WasmLoadError(
        "wasm-meter",
        `function ${fn.index} has ${body.length} bytes with its metering and the limit is ${LARGEST_BODY}`,
      );
    out.block(body.view());
    hints.add(fn.index + 1, rarely);
  }
  for (const write of helpers) {
    body.clear();
    write(body);
    out.block(body.view());
  }
  const always = marks?.indices.levels.map((level) => level.always);
  return { body: out.view(), hints: hints.section(), ...(always && { always }) };
}

/** The module's marks. */
interface Marks {
  readonly indices: MarkIndices;
  readonly all: Integers;
  /** Begin of each function's marks; after the last one their end. */
  readonly firsts: Int32Array;
}

function findMarks(
  bytes: Uint8Array,
  functions: readonly FunctionCode[],
  context: CodeContext,
  { helpers, fuel }: MeterIndices,
  marking: Marking,
): Marks {
  const scan = new StoreScan(bytes, context);
  const walker = new InstructionWalker(bytes, 0, 0);
  const firsts = new Int32Array(functions.length + 1);
  for (const [number, fn] of functions.entries()) {
    scan.scan(walker, fn);
    firsts[number + 1] = scan.marks.length;
  }
  const indices = { levels: markLevels(scan.marks, marking, fuel + 1), range: helpers + HELPERS.length };
  return { indices, all: scan.marks, firsts };
}

/** Writes the marks of one function. */
class MarkWriter {
  readonly indices: MarkIndices;
  readonly #all: Integers;
  #next: number;
  readonly #end: number;

  constructor({ indices, all, firsts }: Marks, number: number) {
    this.indices = indices;
    this.#all = all;
    this.#next = firsts[number] ?? 0;
    this.#end = firsts[number + 1] ?? 0;
  }

  /** Whether a mark needs a local of its own. */
  get needsLocal(): boolean {
    for (let mark = this.#next; mark < this.#end; mark += MARK_SIZE)
      if (this.#all.at(mark + 1) === MARK.top) return true;
    return false;
  }

  /** Position of the next mark, if it is not behind `end`. */
  before(end: number): number | undefined {
    const at = this.#all.at(this.#next);
    return this.#next < this.#end && at <= end ? at : undefined;
  }

  /** Writes the next mark. @param scratch the extra local; absent: the whole memory is marked where it is needed */
  write(out: Writer, scratch: number | undefined): void {
    const what = this.#all.at(this.#next + 1);
    const value = this.#all.at(this.#next + 2);
    this.#next += MARK_SIZE;
    const known = what !== MARK.top || scratch !== undefined;
    writeMark(out, known ? { what, value } : { what: MARK.all, value }, this.indices.levels, scratch ?? 0);
  }
}

/** Gathers the hints of functions. */
class Hints {
  readonly #entries = new Writer();
  #functions = 0;

  add(index: number, rarely: Rarely): void {
    if (rarely.length === 0) return;
    this.#functions++;
    this.#entries.unsigned(index);
    this.#entries.unsigned(rarely.length);
    for (const at of rarely) {
      this.#entries.unsigned(at);
      this.#entries.raw(UNLIKELY);
    }
  }

  section(): Uint8Array {
    const out = new Writer(this.#entries.length + 64);
    out.text(BRANCH_HINTS);
    out.unsigned(this.#functions);
    out.raw(this.#entries.view());
    return out.view();
  }
}

function readFunctions(
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
  context: CodeContext,
  segments: Segments,
): readonly FunctionCode[] {
  const { importedFunctions, parameters } = context;
  const reader = new Reader(bytes.subarray(0, end), start);
  const count = reader.unsigned();
  if (count !== parameters.length)
    throw new WasmLoadError("wasm-invalid", "invalid wasm file: functions and their code differ in number");
  const walker = new InstructionWalker(bytes, 0, 0);
  const functions: FunctionCode[] = [];
  for (let number = 0; number < count; number++) {
    const length = reader.unsigned();
    const from = reader.position;
    reader.bytes(length);
    const behind = reader.position;
    reader.position = from;
    let locals = parameters[number] ?? 0;
    for (let groups = reader.unsigned(); groups > 0; groups--) {
      locals += reader.unsigned();
      skipValueType(reader);
    }
    walker.moveTo(reader.position, behind);
    reader.position = behind;
    const index = importedFunctions + number;
    const spaces = index < context.own.functions ? context.own : context;
    functions.push(scanned(walker, { index, locals, start: from, end: behind }, spaces, segments));
  }
  return functions;
}

function scanned(
  walker: InstructionWalker,
  fn: { index: number; locals: number; start: number; end: number },
  spaces: IndexSpaces,
  segments: Segments,
): FunctionCode {
  try {
    return segments.scan(walker, fn, spaces);
  } catch (error) {
    if (!(error instanceof WasmLoadError)) throw error;
    throw new WasmLoadError(error.code, `${error.message} (in function ${fn.index})`, { cause: error });
  }
}

/** End of a `memory.copy` within the first memory; undefined for another one. */
function behindPlainCopy(bytes: Uint8Array, at: number): number | undefined {
  const reader = new Reader(bytes, at + 1);
  reader.unsigned();
  return reader.unsigned() === 0 && reader.unsigned() === 0 ? reader.position : undefined;
}

interface FunctionToWrite {
  readonly bytes: Uint8Array;
  readonly segments: Segments;
  readonly fn: FunctionCode;
  readonly indices: MeterIndices;
  readonly charged: boolean;
  /** 1 for each function whose call leaves the fuel unchanged. */
  readonly silent: Uint8Array;
  /** Receives the places of charges. */
  readonly rarely: Rarely;
  readonly marks: MarkWriter | undefined;
}

function writeFunction(
  out: Writer,
  { bytes, segments, fn, indices, charged, silent, rarely, marks }: FunctionToWrite,
): void {
  const { points, units } = segments;
  // A function with loops keeps the fuel in a local of its own, which the engine keeps in a register; others need scratch locals.
  const hasRoom = fn.locals + ADDED_LOCALS <= MOST_LOCALS;
  let added = 0;
  const add = (wanted: boolean | undefined): number | undefined =>
    hasRoom && wanted ? fn.locals + added++ : undefined;
  const kept = add(fn.isPlain && fn.endSegment - fn.firstSegment > 1);
  const spare = add(fn.copies || (charged && kept === undefined));
  const marked = add(marks?.needsLocal);
  let position = fn.start;
  if (added > 0) {
    const locals = new Reader(bytes, fn.start);
    out.unsigned(locals.unsigned() + 1);
    out.copy(bytes, locals.position, fn.code);
    out.raw([added, I32]);
    position = fn.code;
  }
  const copyTo = (end: number): void => {
    for (let at = marks?.before(end); at !== undefined; at = marks?.before(end)) {
      out.copy(bytes, position, at);
      position = at;
      marks?.write(out, marked);
    }
    out.copy(bytes, position, end);
    position = end;
  };
  const skipLeb = (): void => {
    while ((bytes[position++] ?? 0) >= 0x80);
  };
  for (let point = fn.firstPoint; point < fn.endPoint; point += POINT_SIZE) {
    copyTo(points.at(point));
    const value = points.at(point + 2);
    switch (points.at(point + 1)) {
      case POINT.entry:
      case POINT.charge: {
        const isFirst = points.at(point + 1) === POINT.entry;
        if (isFirst ? !charged : units.at(value) === 0) break;
        if (kept === undefined) writeCharge(out, units.at(value), spare, indices, rarely);
        else writeKeptCharge(out, units.at(value), kept, isFirst, indices, rarely);
        break;
      }
      case POINT.exit:
      case POINT.beforeCall:
        // Also before calls that leave the fuel unchanged: they may throw, and a caller may catch that.
        if (kept !== undefined) writeBack(out, kept, indices);
        break;
      case POINT.behindCall:
        if (kept !== undefined && silent[value] !== 1) readBack(out, kept, indices);
        break;
      case POINT.bulk: {
        const helper = BULK.get(value);
        if (marks && WRITES_RANGE.has(value)) {
          if (kept !== undefined) writeBack(out, kept, indices);
          writeRangeMark(out, marks.indices);
        }
        if (helper) writeBulkCharge(out, helper, spare, kept, indices, rarely);
        const behind = value === OP.memoryCopy && indices.hasMemory ? behindPlainCopy(bytes, position) : undefined;
        if (behind === undefined) break;
        writeCopy(out, indices);
        position = behind;
        break;
      }
      case POINT.memorySize:
        if (value === OP.memoryGrow) writeBulkCharge(out, "pages", undefined, kept, indices, rarely);
        if (indices.size === undefined) break;
        if (value === OP.memorySize) writeSize(out, indices.size);
        position++;
        skipLeb();
        break;
      default:
        out.unsigned(value < indices.refill ? value : value + 1);
        skipLeb();
    }
  }
  copyTo(fn.end);
}
