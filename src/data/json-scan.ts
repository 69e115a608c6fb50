/**
 * One pass over a JSON text before the built-in parser reads it: whether it reads it exactly, how many keys there are, and where the values stand whose
 * own text is wanted. Bytes and not characters: a string's characters cost twice as much to look at.
 */
import { JSON_MAX_DEPTH } from "./json-reader.js";

/** Which values' own text is wanted: a member of the document, or members of that member. Objects and lists are found, nothing else. */
export interface WantedCuts {
  readonly member: string;
  /** Absent: the member itself. */
  readonly inner?: readonly string[];
}

/** Where the text of a value stands. */
export interface Cut {
  readonly name: string;
  /** Of its opening bracket, in bytes. */
  readonly start: number;
  /** After its closing bracket. */
  readonly end: number;
  /** Keys in it as they are written: more than the value has when one is repeated. */
  readonly keys: number;
}

/** What a text has that the built-in parser reads exactly, if it is JSON at all. */
export interface JsonScan {
  /** Keys down to the depth that was asked for. */
  readonly keys: number;
  /** Of names that were wanted, the last one each. */
  readonly cuts: readonly Cut[];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
const DOT = 0x2e;
const SPACE = 0x20;
/** A run of digits not longer than this is a safe integer whatever its digits, and a fraction of them is read exactly enough never to become whole. */
const SAFE_DIGITS = 15;
/** Zeros behind `0.` from which a number is printed with an exponent. */
const TINY_ZEROS = 6;
/** Bytes after which the end of a string is looked for by a built-in function: calling it costs as much as looking at so many. */
const LONG_STRING = 48;

/**
 * Finds out whether the built-in parser reads this text exactly and within the depth limit: undefined when it may not. The text need not be JSON: a wrong
 * guess on broken text only means that the other reader reports the error.
 * @param keyDepth how deep an object may be nested for its keys to be counted; 1 is the document itself
 */
export function scanJson(bytes: Uint8Array, keyDepth: number, wanted?: WantedCuts): JsonScan | undefined {
  const cutter = wanted && new Cutter(bytes, wanted);
  const cutDepth = cutter?.depth ?? -1;
  let depth = 0;
  let keys = 0;
  let allKeys = 0;
  let lastString = 0;
  const { length } = bytes;
  for (let i = 0; i < length; i++) {
    const c = bytes[i] as number;
    if (c <= SPACE) continue;
    if (c === QUOTE) {
      lastString = i;
      i = stringEnd(bytes, i + 1);
      if (i < 0) break;
    } else if (c === COLON) {
      allKeys++;
      if (depth <= keyDepth) keys++;
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > JSON_MAX_DEPTH) return undefined;
      if (depth <= cutDepth) cutter?.open(depth, lastString, i, allKeys);
    } else if (c === 0x7d || c === 0x5d) {
      if (depth-- === cutDepth) cutter?.close(i + 1, allKeys);
    } else if (c === MINUS || (c >= ZERO && c <= NINE)) {
      const end = plainNumberEnd(bytes, i);
      if (end < 0) return undefined;
      i = end - 1;
    }
  }
  return { keys, cuts: cutter?.found() ?? [] };
}

/** Finds the wanted values among those that open. */
class Cutter {
  /** Of the wanted values; the document itself has 1. */
  readonly depth: number;
  readonly #bytes: Uint8Array;
  readonly #member: string;
  readonly #inner: readonly string[];
  readonly #cuts: (Cut | undefined)[] = [];
  #inMember = false;
  #index = -1;
  #start = 0;
  #keys = 0;

  constructor(bytes: Uint8Array, { member, inner }: WantedCuts) {
    this.#bytes = bytes;
    this.#member = member;
    this.#inner = inner ?? [];
    this.depth = inner === undefined ? 2 : 3;
  }

  /** @param key where the last string before it begins: what stands before a value in an object is its key */
  open(depth: number, key: number, at: number, keys: number): void {
    if (depth === 2) this.#inMember = this.#isKey(key, this.#member);
    if (depth < this.depth || !this.#inMember) return;
    this.#index = depth === 2 ? 0 : this.#inner.findIndex((name) => this.#isKey(key, name));
    this.#start = at;
    this.#keys = keys;
  }

  close(end: number, keys: number): void {
    const index = this.#index;
    if (index < 0) return;
    const name = this.#inner[index] ?? this.#member;
    this.#cuts[index] = { name, start: this.#start, end, keys: keys - this.#keys };
    this.#index = -1;
  }

  found(): readonly Cut[] {
    return this.#cuts.filter((cut) => cut !== undefined);
  }

  /** Whether the string that begins there is this one, written without escapes. */
  #isKey(at: number, name: string): boolean {
    for (let i = 0; i < name.length; i++) if (this.#bytes[at + 1 + i] !== name.charCodeAt(i)) return false;
    return this.#bytes[at + 1 + name.length] === QUOTE;
  }
}

/** The index of the quote that ends the string whose content starts at `from`; -1 when there is none. */
function stringEnd(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + LONG_STRING, bytes.length);
  for (let i = from; i < near; i++) {
    const c = bytes[i] as number;
    if (c === QUOTE) return i;
    if (c === BACKSLASH) return escapedStringEnd(bytes, from, i + 2);
  }
  return escapedStringEnd(bytes, from, near);
}

/** The same of a string in which no quote before `at` ends it. */
function escapedStringEnd(bytes: Uint8Array, from: number, at: number): number {
  for (let end = bytes.indexOf(QUOTE, at); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let first = end;
    while (first > from && bytes[first - 1] === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}

/** The end of the number at `from` when it is a short integer other than -0, or a short fraction that is no whole number, else -1. */
function plainNumberEnd(bytes: Uint8Array, from: number): number {
  const digits = bytes[from] === MINUS ? from + 1 : from;
  let end = digitsEnd(bytes, digits);
  const c = bytes[end];
  if (c === DOT) {
    const fraction = end + 1;
    end = digitsEnd(bytes, fraction);
    // A last digit of 0 may be the last of many: the exact reader finds out.
    if (end === fraction || bytes[end - 1] === ZERO || isExponent(bytes[end]) || isTiny(bytes, digits)) return -1;
  } else if (isExponent(c) || (digits > from && bytes[digits] === ZERO)) return -1;
  return end - digits > SAFE_DIGITS ? -1 : end;
}

const isExponent = (c: number | undefined): boolean => c === 0x65 || c === 0x45;

/** Whether a fraction is so small that it is printed in another way than it is written here. */
function isTiny(bytes: Uint8Array, digits: number): boolean {
  for (let i = 0; i < TINY_ZEROS; i++) if (bytes[digits + 2 + i] !== ZERO) return false;
  return bytes[digits] === ZERO;
}

/** The end of the digits that begin at `from`. */
function digitsEnd(bytes: Uint8Array, from: number): number {
  let end = from;
  while (end < bytes.length && (bytes[end] as number) >= ZERO && (bytes[end] as number) <= NINE) end++;
  return end;
}
