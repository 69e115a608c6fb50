/**
 * JSON as policies must see it: integers keep their value, whole numbers written as doubles stay doubles, every key is a plain key.
 *
 * The built-in parser reads what it reads exactly. A cheap scan of the text finds what it would falsify (fractions and exponents that may make a
 * whole number, integers beyond 2^53, -0, lone surrogates) and only then a slower reader of our own does the work.
 *
 * Number model: a safe integer is a `number`; an integer beyond that within int64 is a `bigint`; every other number is a double, held as
 * a `number` unless its value is a safe integer, then as a `Number` object (spec kubernetes-cel.md 6.2, 9.1).
 */
import { JsonError } from "./json-error.js";
import { ExactReader, JSON_MAX_DEPTH, numberOf, type UniqueKeys } from "./json-reader.js";
import { closingQuote } from "./json-values.js";

/** What {@link readJson} found. */
export interface JsonDocument {
  readonly value: unknown;
  /** True when the value holds only what `JSON.stringify` prints back truly: no bigint, no `Number` object. */
  readonly plain: boolean;
}

/** How to read. */
export interface JsonLimits {
  /** What becomes of a number's text, unless it is a safe integer's; default the number model above. */
  readonly number?: (text: string) => unknown;
  /** Where a key that stands twice in one object is an error; default: nowhere, the last one counts, as in Go. */
  readonly unique?: UniqueKeys;
}

/** No object at all may have a key twice: for texts whose writer must not mean two things. */
export const UNIQUE_KEYS: UniqueKeys = { depth: Number.POSITIVE_INFINITY };

/**
 * Reads one JSON document.
 * @throws JsonError with line and column when the text is not JSON, nests too deeply, has a number that no double holds, or repeats a key
 */
export function readJson(text: string, limits: JsonLimits = {}): JsonDocument {
  const { unique, number } = limits;
  const keyDepth = unique?.depth ?? 0;
  // Who reads numbers in another way wants fractions as they were written.
  const colons = number !== undefined && FRACTION.test(text) ? -1 : scan(text, keyDepth);
  if (colons >= 0) {
    try {
      const value: unknown = JSON.parse(text);
      // A repeated key makes one member of two; the exact reader says whether it may.
      if (keyDepth === 0 || keysWithin(value, keyDepth) === colons) return { value, plain: true };
    } catch {
      // Not JSON: the exact reader says where.
    }
  }
  const value = new ExactReader(text, number ?? numberOf, unique).read();
  return { value, plain: false };
}

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

/**
 * Prints a value of the number model as compact JSON. Integral doubles print with `.0`, so that they are read back as doubles.
 * @param plain true when the value is known to hold no bigint and no `Number` object: then the built-in printer is used
 */
export function stringifyJson(value: unknown, plain = false): string {
  return plain ? JSON.stringify(value) : printValue(value);
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
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${printValue(member)}`);
  }
  return `{${members.join(",")}}`;
}

/** An integral double; -0 keeps its sign. */
function printDouble(value: number): string {
  return `${Object.is(value, -0) ? "-0" : value}.0`;
}

/** There is no fraction without it; texts may have it, too. */
const FRACTION = /\d\.\d/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Characters of two escapes. */
const PAIR_LENGTH = 12;
const MINUS = 0x2d;
const COLON = 0x3a;
const ZERO = 0x30;
const DOT = 0x2e;
/** A run of digits not longer than this is a safe integer whatever its digits, and a fraction of them is read exactly enough never to become whole. */
const SAFE_DIGITS = 15;

/**
 * Finds out whether the built-in parser reads this text exactly and within the depth limit: if so, the number of keys down to `keyDepth`, else
 * -1. It need not be JSON: a wrong guess on broken text only means that the other reader reports the error.
 */
function scan(text: string, keyDepth: number): number {
  if (mayHaveLoneSurrogate(text, "\\ud") || mayHaveLoneSurrogate(text, "\\uD")) return -1;
  let depth = 0;
  let keys = 0;
  const length = text.length;
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = closingQuote(text, i + 1);
      if (i < 0) return keys;
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > JSON_MAX_DEPTH) return -1;
    } else if (c === 0x7d || c === 0x5d) {
      depth--;
    } else if (c === COLON) {
      if (depth <= keyDepth) keys++;
    } else if (c === MINUS || (c >= ZERO && c <= 0x39)) {
      const end = plainNumberEnd(text, i);
      if (end < 0) return -1;
      i = end - 1;
    }
  }
  return keys;
}

const PAIR = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]/y;

/** Whether an escape of a surrogate may be a lone one, which must become U+FFFD; pairs, as of emoji, may not. */
function mayHaveLoneSurrogate(text: string, beginning: string): boolean {
  for (let at = text.indexOf(beginning); at >= 0; at = text.indexOf(beginning, at + PAIR_LENGTH)) {
    // Behind a backslash it may be none.
    if (text.charCodeAt(at - 1) === BACKSLASH) return true;
    PAIR.lastIndex = at;
    if (!PAIR.test(text)) return true;
  }
  return false;
}

/** The end of the number at `from` when it is a short integer other than -0, or a short fraction that is no whole number, else -1. */
function plainNumberEnd(text: string, from: number): number {
  const digits = text.charCodeAt(from) === MINUS ? from + 1 : from;
  let end = digitsEnd(text, digits);
  const c = text.charCodeAt(end);
  if (c === DOT) {
    const fraction = end + 1;
    end = digitsEnd(text, fraction);
    // A last digit of 0 may be the last of many: the exact reader finds out.
    if (end === fraction || text.charCodeAt(end - 1) === ZERO || isExponent(text.charCodeAt(end))) return -1;
  } else if (isExponent(c) || (digits > from && text.charCodeAt(digits) === ZERO)) return -1;
  return end - digits > SAFE_DIGITS ? -1 : end;
}

const isExponent = (c: number): boolean => c === 0x65 || c === 0x45;

/** The end of the digits that begin at `from`. */
function digitsEnd(text: string, from: number): number {
  let end = from;
  let c = text.charCodeAt(end);
  while (c >= ZERO && c <= 0x39) c = text.charCodeAt(++end);
  return end;
}

export { JsonError };
