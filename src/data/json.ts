/**
 * JSON for policies: integers keep their value, whole numbers written as doubles stay doubles, every key is a plain key.
 *
 * The built-in parser reads the texts that it reads exactly. A cheap scan of the text finds what it would falsify (fractions and exponents that may make a
 * whole number, integers beyond 2^53, -0, lone surrogates, keys with escapes) and only then a slower reader of our own does the work.
 *
 * Number model: a safe integer is a `number`; an integer beyond that within int64 is a `bigint`; every other number is a double, held as
 * a `number` unless its value is a safe integer, then as a `Number` object (spec kubernetes-cel.md 6.2, 9.1).
 */
import { JsonError } from "./json-error.js";
import { readInPieces } from "./json-pieces.js";
import { ExactReader, numberOf, type UniqueKeys } from "./json-reader.js";
import { type Cut, type JsonScan, scanJson, type WantedCuts } from "./json-scan.js";

/** The result of {@link readJson}. */
export interface JsonDocument {
  readonly value: unknown;
  /** True when the value holds only what `JSON.stringify` prints back truly: no bigint, no `Number` object. */
  readonly plain: boolean;
  /**
   * The places of values whose own text was wanted, if other readers read the text as it is read here: numbers as they are printed, no
   * escapes of surrogates. Repeated keys in it are left to {@link hasRepeatedKeys}, unless it {@link isUnique}.
   */
  readonly cuts: readonly Cut[];
  /** Whether it is known that no object in the text has a repeated key. */
  readonly isUnique: boolean;
}

/** Options of reading. */
export interface JsonLimits {
  /** Converts a number's text, unless it is a safe integer's; default the number model above. */
  readonly number?: (text: string) => unknown;
  /** Where a repeated key in one object is an error; default: nowhere, the last one counts, as in Go. */
  readonly unique?: UniqueKeys;
  /** Values whose own text is wanted. */
  readonly cuts?: WantedCuts;
}

/** No object may have a repeated key: for texts that must not have two meanings. */
export const UNIQUE_KEYS: UniqueKeys = { depth: Number.POSITIVE_INFINITY };

/**
 * Reads one JSON document.
 * @param bytes the same text in UTF-8, if the caller has it
 * @param scanned its scan, if the caller has it: keys counted by the limits, and the wanted values
 * @throws JsonError with line and column when the text is not JSON, nests too deeply, has a number that no double holds, or repeats a key
 */
export function readJson(
  text: string,
  limits: JsonLimits = {},
  bytes: Uint8Array = Buffer.from(text),
  scanned?: JsonScan,
): JsonDocument {
  const { unique, number } = limits;
  const keyDepth = unique?.depth ?? 0;
  // A custom conversion of numbers needs fractions as they were written.
  const asWritten = number !== undefined && FRACTION.test(text);
  const scan = asWritten ? undefined : (scanned ?? scanJson(bytes, keyDepth, limits.cuts));
  const surrogates = scan?.surrogates === true ? escapedSurrogates(text) : "none";
  const isExact = scan?.isExact === true && surrogates !== "lone";
  if (isExact && scan.escapedKeys === 0) {
    try {
      const value: unknown = JSON.parse(text);
      if (!mayRepeatKeys(value, limits, scan)) return found(value, true, scan, surrogates);
    } catch {
      // Not JSON: the exact reader finds the place.
    }
  }
  const value = new ExactReader(text, number ?? numberOf, unique).read();
  // An exact text needed another reader only because of keys with escapes: it is printed as it is written.
  const asRead = isExact && scan.escapedKeys !== 0;
  return asRead ? found(value, true, scan, surrogates) : { value, plain: false, cuts: [], isUnique: false };
}

/** {@link readJson} of a long text in steps of a few milliseconds. A text that is not JSON is read in one. */
export function* readJsonInSteps(
  text: string,
  limits: Omit<JsonLimits, "number">,
  bytes: Uint8Array,
): Generator<undefined, JsonDocument, undefined> {
  const scan = scanJson(bytes, limits.unique?.depth ?? 0, limits.cuts);
  yield;
  if (scan?.isWhole !== true) return readJson(text, limits, bytes, scan);
  const surrogates = scan.surrogates ? escapedSurrogates(text) : "none";
  yield;
  const isExact = scan.isExact && surrogates !== "lone";
  const read = isExact && scan.escapedKeys === 0 ? parseScanned : (piece: string) => parseJson(piece);
  try {
    const value = yield* readInPieces(text, read);
    if (!mayRepeatKeys(value, limits, scan)) return found(value, isExact, scan, surrogates);
  } catch {
    // A number that no double holds: its place in the whole text is reported.
  }
  return readJson(text, limits, bytes);
}

/** Whether a key may be repeated where it must not be: two members become one then, and the exact reader finds which. */
const mayRepeatKeys = (value: unknown, { unique, cuts }: JsonLimits, scan: JsonScan): boolean =>
  unique !== undefined && !scan.isUnique && keysBeside(value, unique.depth, cuts, scan.cuts) !== scan.keys;

const found = (
  value: unknown,
  plain: boolean,
  scan: JsonScan,
  surrogates: "none" | "pairs" | "lone",
): JsonDocument => ({
  value,
  plain,
  cuts: plain && surrogates === "none" ? scan.cuts : [],
  isUnique: scan.isUnique,
});

/** Whether an object in the cut text has a repeated key: readers differ in which one counts. */
export function hasRepeatedKeys({ keys }: Cut, value: unknown): boolean {
  return keysWithin(value, Number.POSITIVE_INFINITY) !== keys;
}

/** {@link keysWithin} without those of the values that were cut out and may repeat their keys. */
function keysBeside(value: unknown, depth: number, wanted: WantedCuts | undefined, cuts: readonly Cut[]): number {
  if (wanted?.mayRepeat !== true || cuts.length === 0 || !isObject(value)) return keysWithin(value, depth);
  const { [wanted.member]: member, ...others } = value;
  const count = 1 + keysWithin(others, depth);
  if (wanted.inner === undefined || depth === 1 || !isObject(member)) return count;
  let within = 0;
  for (const key in member) {
    within += 1;
    const item = member[key];
    if (depth > 2 && typeof item === "object" && !cuts.some(({ name }) => name === key)) {
      within += keysWithin(item, depth - 2);
    }
  }
  return count + within;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The number of members in a value's objects down to a depth. */
function keysWithin(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    if (depth > 1) for (const item of value) if (typeof item === "object") count += keysWithin(item, depth - 1);
    return count;
  }
  // For objects of many keys cheaper than `for … in` or `Object.values`.
  const keys = Object.keys(value);
  if (depth === 1) return keys.length;
  for (const key of keys) {
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === "object") count += keysWithin(item, depth - 1);
  }
  return count + keys.length;
}

/**
 * Reads one JSON document's value.
 * @throws JsonError like {@link readJson}
 */
export function parseJson(text: string, limits?: JsonLimits): unknown {
  return readJson(text, limits).value;
}

/** Reads a text that {@link scanJson} has found exact, without keys with escapes and lone surrogates, or a value of it. */
export const parseScanned = (text: string): unknown => JSON.parse(text);

/**
 * Reads one JSON document with JavaScript's numbers: doubles, all of them.
 * @throws JsonError like {@link readJson}
 */
export const parsePlainJson = (text: string): unknown => parseJson(text, { number: Number });

/** Whether a text of JSON may have keys with escapes: foreign code must not read it, see {@link JsonScan}. */
export const hasEscapedKeys = (text: string): boolean =>
  text.includes("\\") && scanJson(Buffer.from(text), 0)?.escapedKeys !== 0;

/**
 * Prints a value of the number model as compact JSON. Integral doubles print with `.0`, so that they are read back as doubles.
 * @param plain whether the value is known to hold no bigint and no `Number` object; if not, that is checked
 */
export function stringifyJson(value: unknown, plain = false): string {
  // The built-in printer takes a quarter of the time, and checking whether it can be used a tenth.
  return (plain || isPlain(value) ? JSON.stringify(value) : printValue(value)) ?? "null";
}

/** Whether a value holds no bigint and no `Number` object. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== "string" && !isPlain(item)) return false;
    return true;
  }
  if (value instanceof Number) return false;
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (typeof member !== "string" && !isPlain(member)) return false;
  }
  return true;
}

function printValue(value: unknown): string {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "object":
      break;
    default:
      return JSON.stringify(value) ?? "null";
  }
  if (value === null) return "null";
  if (value instanceof Number) return printDouble(value.valueOf());
  if (Array.isArray(value)) return `[${value.map(printValue).join(",")}]`;
  const members: string[] = [];
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${printValue(member)}`);
  }
  return `{${members.join(",")}}`;
}

/** An integral double; -0 keeps its sign. */
function printDouble(value: number): string {
  return `${Object.is(value, -0) ? "-0" : value}.0`;
}

/** The pattern of a fraction in the text; strings may match it, too. */
const FRACTION = /\d\.\d/;

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** Characters of an escape with a backslash, a `u` and four digits. */
const UNIT_LENGTH = 6;

/** The kind of surrogate escapes in a JSON text: pairs, as of emoji, or lone ones, which must become U+FFFD. */
function escapedSurrogates(text: string): "none" | "pairs" | "lone" {
  let found: "none" | "pairs" = "none";
  const end = text.length;
  for (let at = 0; at < end; ) {
    // Searching for the next backslash takes longer, where there are a million of them.
    if (text.charCodeAt(at) !== BACKSLASH) at++;
    else if (text.charCodeAt(at + 1) !== LETTER_U) at += 2;
    else {
      const kind = surrogateAt(text, at);
      if (kind === "low" || (kind === "high" && surrogateAt(text, at + UNIT_LENGTH) !== "low")) return "lone";
      if (kind === "high") found = "pairs";
      at += kind === "high" ? 2 * UNIT_LENGTH : UNIT_LENGTH;
    }
  }
  return found;
}

/** The kind of surrogate that an escape stands for, if there is one. */
function surrogateAt(text: string, at: number): "high" | "low" | "other" {
  if (text.charCodeAt(at) !== BACKSLASH || text.charCodeAt(at + 1) !== LETTER_U) return "other";
  // Of four hexadecimal digits the first two decide: D and 8 to B, D and C to F.
  if ((text.charCodeAt(at + 2) | 0x20) !== 0x64) return "other";
  const digit = text.charCodeAt(at + 3) | 0x20;
  if (digit === 0x38 || digit === 0x39 || digit === 0x61 || digit === 0x62) return "high";
  return digit >= 0x63 && digit <= 0x66 ? "low" : "other";
}

export { type Cut, JsonError, type JsonScan, scanJson, type WantedCuts };
