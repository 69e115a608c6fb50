/** Runs a module as it is and metered, or in a new and in a used instance, and says where the two differ. */

import { HIDDEN_PREFIX, HOST_MODULE, MEMORY_NAME } from "../../../../src/wasm/names.js";
import { exportedFunctionTypes } from "../../../../src/wasm/rewrite/binary/function-types.js";
import { Reader } from "../../../../src/wasm/rewrite/binary/reader.js";
import { rewriteModule } from "../../../../src/wasm/rewrite/binary/rewrite.js";
import { readSections, SECTION_IMPORT, SECTION_TYPE } from "../../../../src/wasm/rewrite/binary/sections.js";
import { type FunctionType, readTypes } from "../../../../src/wasm/rewrite/binary/types.js";
import { METER_MODULE, REFILL } from "../../../../src/wasm/rewrite/meter/helpers.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import type { IndexSpaces } from "../../../../src/wasm/rewrite/meter/segments.js";
import { extractState } from "../../../../src/wasm/rewrite/snapshot/extract.js";
import { PAGE_BYTES } from "../../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import { type Marking, SMALLEST_SHIFT } from "../../../../src/wasm/rewrite/write-barriers/marking.js";
import { Places } from "../../../../src/wasm/run/guest/instance-pool.js";
import { newInstance } from "../../../../src/wasm/run/guest/start-functions.js";
import { verifyMetered } from "./verify.js";

/** Units of a slice that is more than such a module uses. */
export const ENOUGH = 0x7fff_ffff;
/** Calls of each export. */
export const CALLS = 2;

/** What is done to a module before it is metered. @param own functions and globals of the guest's own, where others were added */
export type Rewrite = (bytes: Uint8Array<ArrayBuffer>, own?: IndexSpaces) => Uint8Array<ArrayBuffer>;
export const asItIs: Rewrite = (bytes) => bytes;

/** What came of a comparison. */
export type Comparison =
  | { readonly kind: "equal" }
  /** The engine does not take the module, or the call depth differs, which metering may change. */
  | { readonly kind: "skipped"; readonly why: string }
  | { readonly kind: "different"; readonly what: string };

/**
 * Calls all exports of a module that ends by itself, metered and not, and compares what they return or throw, what the host is asked, and then all globals,
 * memories and tables.
 */
export function compareBoth(bytes: Uint8Array<ArrayBuffer>, seed: number, rewrite = asItIs): Comparison {
  const plain = compiled(bytes);
  if (typeof plain === "string") return { kind: "skipped", why: plain };
  const meteredBytes = meterModule(rewrite(bytes));
  const metered = new WebAssembly.Module(meteredBytes);
  const unpaid = verifyMetered(meteredBytes);
  if (unpaid !== undefined) return { kind: "different", what: unpaid };
  const wanted = imports(bytes);
  if (!wanted) return { kind: "skipped", why: "JavaScript can't make what it imports" };
  const exported = exportedFunctionTypes(bytes);
  const fresh = (module: WebAssembly.Module) => {
    const lines: string[] = [];
    const given = provide(wanted, lines, () => ENOUGH);
    return history(() => new WebAssembly.Instance(module, given), exported, seed, lines);
  };
  return compared(fresh(plain), fresh(metered), ["plain", "metered"]);
}

/** @param names of the two histories */
export function compared(
  one: readonly string[],
  other: readonly string[],
  names: readonly [string, string],
): Comparison {
  if ([...one, ...other].some((line) => line.includes("call stack"))) return { kind: "skipped", why: "stack" };
  const at = one.findIndex((line, index) => line !== other[index]);
  if (at < 0 && one.length === other.length) return { kind: "equal" };
  const place = at < 0 ? one.length : at;
  return { kind: "different", what: `${names[0]}: ${one[place]}; ${names[1]}: ${other[place]}` };
}

/** Pages of a memory, at most: less than the largest that is kept. */
export const PAGES = 100;

/** A module whose memory the host gives, as servers have it, and what else it imports; or why it can't be compared so. */
export function withHostMemory(bytes: Uint8Array<ArrayBuffer>) {
  const problem = compiled(bytes);
  if (typeof problem === "string") return problem;
  const wanted = imports(bytes);
  if (!wanted?.every(({ isFunction }) => isFunction)) return "it imports more than functions";
  const { bytes: rewritten, importedMemory: shape } = rewriteModule(bytes, {
    maximumPages: PAGES,
    importMemoryAs: { module: HOST_MODULE, name: MEMORY_NAME },
  });
  return shape ? { wanted, rewritten, shape } : "it has no memory";
}

/** Calls all exports of an instance that has been used and brought back, and of a new one, and compares as {@link compareBoth} does. */
export function compareUsed(bytes: Uint8Array<ArrayBuffer>, seed: number, rewrite = asItIs): Comparison {
  const made = withHostMemory(bytes);
  if (typeof made === "string") return { kind: "skipped", why: made };
  const { wanted, rewritten, shape } = made;
  const { bytes: extracted, image, coldBecause, own } = extractState(rewritten, shape);
  if (!image) return { kind: "skipped", why: coldBecause ?? "it writes its data itself" };
  if (coldBecause !== undefined) return { kind: "skipped", why: coldBecause };
  const marking: Marking = { shifts: seed % 2 === 0 ? [SMALLEST_SHIFT] : [SMALLEST_SHIFT, SMALLEST_SHIFT + 3] };
  const source = {
    module: new WebAssembly.Module(meterModule(rewrite(extracted, own), marking, own)),
    isResettable: true,
  };
  const exported = exportedFunctionTypes(bytes);
  const side = () => {
    const places = new Places();
    const lines: string[] = [];
    const given = provide(wanted, lines, () => ENOUGH);
    return (from: number) => {
      const place = places.take(1, shape, image, { marking });
      const wasUsed = place.used.has(given);
      const hasGrown = place.memory.buffer.byteLength > image.pages * PAGE_BYTES;
      lines.length = 0;
      given[HOST_MODULE] = { ...given[HOST_MODULE], [MEMORY_NAME]: place.memory };
      const told = history(() => newInstance(source, given, place), exported, from, lines);
      // Pages that it does not know of are zeros.
      const all = [...told, state(place.memory)].map((line) => line.replace(/memory \d+ /, "memory "));
      const took = { lines: all, wasUsed, hasGrown };
      places.give(place);
      return took;
    };
  };
  const used = side();
  used(seed + 1);
  const again = used(seed);
  if (!again.wasUsed) return { kind: "skipped", why: "its memory is too large to be kept" };
  const fresh = side()(seed).lines;
  if (again.hasGrown && fresh.some((line) => line.includes("out of bounds")))
    return { kind: "skipped", why: "it goes beyond its memory, which may not be the end of one that has grown" };
  return compared(fresh, again.lines, ["new", "used"]);
}

/**
 * Calls all exports of a module that may run for ever, with fuel that ends.
 * @returns how many calls were ended, undefined when the engine does not take the module
 */
export function runOut(
  bytes: Uint8Array<ArrayBuffer>,
  seed: number,
  units: number,
  rewrite = asItIs,
): number | undefined {
  if (typeof compiled(bytes) === "string") return undefined;
  const metered = new WebAssembly.Module(meterModule(rewrite(bytes)));
  const wanted = imports(bytes);
  if (!wanted) return undefined;
  let ended = 0;
  let isGiven = false;
  const refill = () => {
    isGiven = !isGiven;
    if (!isGiven) ended++;
    return isGiven ? units : 0;
  };
  const lines: string[] = [];
  const given = provide(wanted, lines, refill);
  history(() => new WebAssembly.Instance(metered, given), exportedFunctionTypes(bytes), seed, lines);
  return ended;
}

export function compiled(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module | string {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    return String(error);
  }
}

/** What a module imports, with all that WebAssembly.Module.imports does not tell. */
export interface Import {
  readonly from: string;
  readonly name: string;
  readonly isFunction: boolean;
  /** Gives an object of its own to each instance; a function writes down how it is called. */
  make(lines: string[]): unknown;
}

/** The parts of the JavaScript API that src has no use for. */
const api = WebAssembly as unknown as {
  Global: new (type: object, value: unknown) => object;
  Table: new (type: object) => object;
  Tag: new (type: object) => object;
};
const TYPE_NAMES: Readonly<Record<number, string>> = {
  127: "i32",
  126: "i64",
  125: "f32",
  124: "f64",
  123: "v128",
  112: "anyfunc",
  111: "externref",
};

/** @returns undefined when it imports what JavaScript can't make, such as vectors */
export function imports(bytes: Uint8Array): readonly Import[] | undefined {
  try {
    const found = readImports(bytes);
    for (const { make } of found) make([]);
    return found;
  } catch {
    return undefined;
  }
}

function readImports(bytes: Uint8Array): readonly Import[] {
  const body = (id: number) => readSections(bytes).find((section) => section.id === id)?.body ?? Uint8Array.of(0);
  const { types } = readTypes(body(SECTION_TYPE));
  const reader = new Reader(body(SECTION_IMPORT), 0);
  const found: Import[] = [];
  for (let left = reader.unsigned(); left > 0; left--) {
    const from = reader.text();
    const name = reader.text();
    found.push({ from, name, isFunction: reader.peek() === 0, make: maker(reader, types, `${from}.${name}`) });
  }
  return found;
}

function maker(reader: Reader, types: readonly (FunctionType | undefined)[], name: string): Import["make"] {
  const kind = reader.byte();
  if (kind === 0) {
    const results = types[reader.unsigned()]?.results ?? [];
    return (lines) => hostFunction(name, results, lines);
  }
  if (kind === 3) {
    const value = TYPE_NAMES[reader.byte()] ?? "i32";
    const mutable = reader.byte() === 1;
    const initial = value === "anyfunc" ? null : someValue(value, 5);
    return () => new api.Global({ value, mutable }, initial);
  }
  if (kind === 4) {
    reader.byte();
    const parameters = types[reader.unsigned()]?.parameters ?? [];
    return () => new api.Tag({ parameters });
  }
  const element = kind === 1 ? (TYPE_NAMES[reader.byte()] ?? "anyfunc") : undefined;
  const bounded = (reader.byte() & 1) === 1;
  const initial = reader.unsigned();
  const limits = { initial, ...(bounded && { maximum: reader.unsigned() }) };
  return element === undefined ? () => new WebAssembly.Memory(limits) : () => new api.Table({ element, ...limits });
}

function hostFunction(name: string, results: readonly string[], lines: string[]): unknown {
  return (...parameters: unknown[]) => {
    lines.push(`host ${name}(${parameters.map(shown).join()})`);
    const values = results.map((type, index) => someValue(type, lines.length + index));
    return values.length === 1 ? values[0] : values;
  };
}

export function history(
  make: () => WebAssembly.Instance,
  exported: ReadonlyMap<string, string | undefined>,
  seed: number,
  lines: string[],
): string[] {
  const attempt = <T>(what: string, run: () => T): T | undefined => {
    try {
      const value = run();
      lines.push(`${what} -> ${shown(value)}`);
      return value;
    } catch (error) {
      lines.push(`${what} threw ${error instanceof Error ? error.message : typeof error}`);
      return undefined;
    }
  };
  const instance = attempt("instance", make);
  if (!instance) return lines;
  let number = seed;
  for (let round = 0; round < CALLS; round++)
    for (const [name, type] of exported) {
      const run = instance.exports[name];
      if (typeof run !== "function") continue;
      const parameters = (type ?? "() ->").slice(1).split(")")[0]?.split(" ").filter(Boolean) ?? [];
      const values = parameters.map((each) => {
        number = (Math.imul(number, 1_103_515_245) + 12_345) >>> 0;
        return someValue(each, number);
      });
      attempt(name, () => (run as (...values: unknown[]) => unknown)(...values));
    }
  for (const [name, value] of Object.entries(instance.exports))
    if (!name.startsWith(HIDDEN_PREFIX)) lines.push(`${name}: ${state(value)}`);
  return lines;
}

/** An object for every import. */
export function provide(
  wanted: readonly Import[],
  lines: string[],
  refill: () => number,
): Record<string, WebAssembly.ModuleImports> {
  const given: Record<string, Record<string, unknown>> = { [METER_MODULE]: { [REFILL]: refill } };
  for (const { from, name, make } of wanted) given[from] = { ...given[from], [name]: make(lines) };
  return given as Record<string, WebAssembly.ModuleImports>;
}

export function someValue(type: string, number: number): unknown {
  if (type === "i64") return BigInt(number) * 0x1_0000_0001n;
  if (type === "i32") return number % 3 === 0 ? number % 16 : number | 0;
  if (type === "f32" || type === "f64") return number / 7;
  return null;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join()}]`;
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  return typeof value === "object" || typeof value === "function" ? typeof value : String(value);
}

function state(value: unknown): string {
  if (value instanceof WebAssembly.Memory) {
    const bytes = new Uint8Array(value.buffer);
    let sum = 0;
    // Zeros behind the last other byte change nothing.
    for (let at = 0; at < bytes.length; at++) sum = (sum + Math.imul(bytes[at] ?? 0, 31 * at + 7)) | 0;
    return `memory ${bytes.length} ${sum}`;
  }
  if (typeof value !== "object" || value === null) return typeof value;
  if ("length" in value) return `table ${String(value.length)}`;
  if (!("value" in value)) return typeof value;
  try {
    return `global ${shown(value.value)}`;
  } catch {
    return "global";
  }
}
