/**
 * One pass over a JSON text before it is read: whether the built-in parser reads it exactly, whether keys are repeated, and where the values stand whose
 * own text is wanted. The pass itself is WebAssembly (json-scan.wat).
 */
import { readFileSync } from "node:fs";
import { JSON_MAX_DEPTH } from "./json-reader.js";

/** Which values' own text is wanted: a member of the document, or members of that member. Objects and lists are found, nothing else. */
export interface WantedCuts {
  readonly member: string;
  /** Absent: the member itself. */
  readonly inner?: readonly string[];
  /** Keys in them may be repeated, whatever is said of other objects. */
  readonly mayRepeat: boolean;
  /** Of the wanted values, a member of a member that is to be found, too. */
  readonly part?: readonly [member: string, inner: string];
}

/** Where the text of a value stands, with its brackets. */
export interface Cut extends Range {
  readonly name: string;
  /** Keys in it as they are written: more than the value has when one is repeated. */
  readonly keys: number;
  /** Where the part that was wanted of it stands, if it has one. */
  readonly part?: Range;
}

/** Where a text stands, in bytes. */
export interface Range {
  readonly start: number;
  /** Behind its last byte. */
  readonly end: number;
}

/** What a text of JSON has. */
export interface JsonScan {
  /** Whether the built-in parser reads its numbers exactly, and no key in it can be written otherwise: has `\u` or `\/`. */
  readonly isExact: boolean;
  /**
   * Where keys have escapes: any of {@link ESCAPED_BESIDE}, {@link ESCAPED_WITHIN} and {@link ESCAPED_IN_PART}; 0 is nowhere. The built-in parser must not read them: some
   * versions of V8 take such a key for another one that they have seen at the same place (nodejs/node#63785).
   */
  readonly escapedKeys: number;
  /** Keys down to the depth that was asked for, without those in values that were cut out and may repeat them. */
  readonly keys: number;
  /** Of names that were wanted, the last one each. */
  readonly cuts: readonly Cut[];
  /** Whether there may be escapes of surrogates, such as `\ud83d`. */
  readonly surrogates: boolean;
  /**
   * Whether it is known that no object has a key twice. It is not where keys have escapes that may be written otherwise, nor where objects with hundreds of keys have 200,000
   * in all, or keys that were chosen to be slow to compare.
   */
  readonly isUnique: boolean;
  /** Whether it is known to be JSON, so that any value in it can be read by itself. Of a string that is longer than a window nothing is known. */
  readonly isWhole: boolean;
}

/** A key has escapes that stands beside the wanted values; in one of them; in the part that is wanted of it. */
export const ESCAPED_BESIDE = 1;
export const ESCAPED_WITHIN = 2;
export const ESCAPED_IN_PART = 4;

/** Bytes that are looked at at a time: what the module has room for. A string that is longer is passed over in another way, which takes twice as long. */
const WINDOW = 256 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

interface Scanner {
  readonly memory: WebAssembly.Memory;
  begin(): void;
  scan(length: number, base: number, isLast: number, keyDepth: number, wantedDepth: number, most: number): number;
  passed(at: number, isEscaped: number): void;
  keys(): number;
  surrogates(): number;
  inexact(): number;
  escaped_keys(): number;
  unique(): number;
  complete(): number;
}

/** Passes over one text after the other; what it holds of one is void with the next. */
class JsonScanner {
  readonly #scanner: Scanner;
  readonly #window: Uint8Array;
  #cutter: Cutter | undefined;

  constructor() {
    const code = readFileSync(new URL("./json-scan.wasm", import.meta.url));
    const scan = {
      open: (depth: number, key: number, at: number, keys: number) => this.#cutter?.open(depth, key, at, keys) ?? 0,
      close: (end: number, keys: number) => this.#cutter?.close(end, keys),
    };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { scan });
    this.#scanner = exports as unknown as Scanner;
    this.#window = new Uint8Array(this.#scanner.memory.buffer);
  }

  scan(bytes: Uint8Array, keyDepth: number, wanted: WantedCuts | undefined): JsonScan | undefined {
    const cutter = wanted && new Cutter(bytes, wanted);
    this.#cutter = cutter;
    const scan = this.#scan(bytes, keyDepth, cutter);
    // It holds the text, which may be a large body.
    this.#cutter = undefined;
    return scan;
  }

  #scan(bytes: Uint8Array, keyDepth: number, cutter: Cutter | undefined): JsonScan | undefined {
    const scanner = this.#scanner;
    scanner.begin();
    const wantedDepth = cutter?.depth ?? 0;
    let isWhole = true;
    let base = 0;
    while (base < bytes.length) {
      const end = Math.min(base + WINDOW, bytes.length);
      this.#window.set(base === 0 && end === bytes.length ? bytes : bytes.subarray(base, end));
      const isLast = end === bytes.length;
      const reached = scanner.scan(end - base, base, isLast ? 1 : 0, keyDepth, wantedDepth, JSON_MAX_DEPTH);
      if (reached < 0) return undefined;
      base += reached;
      if (base === end) continue;
      // A string that never ends.
      if (isLast) return undefined;
      if (reached > 0) continue;
      if (bytes[base] !== QUOTE) return undefined;
      // A string that is too long for a window.
      const behind = stringEnd(bytes, base + 1) + 1;
      if (behind === 0) return undefined;
      scanner.passed(base, bytes.subarray(base, behind).includes(BACKSLASH) ? 1 : 0);
      isWhole = false;
      base = behind;
    }
    if (scanner.complete() === 0) return undefined;
    return {
      isExact: scanner.inexact() === 0,
      escapedKeys: scanner.escaped_keys(),
      keys: scanner.keys(),
      cuts: cutter?.found() ?? NO_CUTS,
      surrogates: scanner.surrogates() !== 0,
      isUnique: scanner.unique() !== 0,
      isWhole,
    };
  }
}

const NO_CUTS: readonly Cut[] = [];

/** One for all texts of a thread: they are passed over one after the other. */
const scanner = new JsonScanner();

/**
 * Finds out what a text has: undefined when it is no JSON, or nests too deeply. A wrong guess on broken text only means that the other reader reports the error.
 * @param keyDepth how deep an object may be nested for its keys to be counted; 1 is the document itself
 */
export function scanJson(bytes: Uint8Array, keyDepth: number, wanted?: WantedCuts): JsonScan | undefined {
  return scanner.scan(bytes, Math.min(keyDepth, JSON_MAX_DEPTH), wanted);
}

/** Finds the wanted values among those that open. */
class Cutter {
  /** Of the wanted values; the document itself has 1. */
  readonly depth: number;
  readonly #bytes: Uint8Array;
  readonly #member: string;
  readonly #inner: readonly string[];
  readonly #wanted: number;
  readonly #cuts: Cut[] = [];
  readonly #part: WantedCuts["part"];
  #inMember = false;
  #name = "";
  #start = 0;
  #keys = 0;
  /** Whether the wanted value's member that is open has the part. */
  #hasPart = false;
  #partStart = -1;
  #found: Range | undefined;

  constructor(bytes: Uint8Array, { member, inner, mayRepeat, part }: WantedCuts) {
    this.#bytes = bytes;
    this.#member = member;
    this.#inner = inner ?? [];
    this.#wanted = mayRepeat ? 1 : 2;
    this.#part = part;
    this.depth = inner === undefined ? 2 : 3;
  }

  /**
   * @param key where its key begins
   * @returns whether the text of the value is wanted, as the module takes it
   */
  open(depth: number, key: number, at: number, keys: number): number {
    if (depth > this.depth) return this.#openInside(depth, key, at);
    if (depth === 2) this.#inMember = this.#isKey(key, this.#member);
    if (depth < this.depth || !this.#inMember) return 0;
    const name = depth === 2 ? this.#member : this.#innerAt(key);
    if (name === undefined) return 0;
    this.#name = name;
    this.#start = at;
    this.#keys = keys;
    this.#found = undefined;
    return this.#wanted;
  }

  #innerAt(key: number): string | undefined {
    for (const name of this.#inner) if (this.#isKey(key, name)) return name;
    return undefined;
  }

  #openInside(depth: number, key: number, at: number): number {
    if (this.#part === undefined) return 0;
    const [member, inner] = this.#part;
    if (depth === this.depth + 1) this.#hasPart = this.#isKey(key, member);
    else if (this.#hasPart && this.#isKey(key, inner)) {
      this.#partStart = at;
      return 1;
    }
    return 0;
  }

  close(end: number, keys: number): void {
    if (this.#partStart >= 0) {
      this.#found = { start: this.#partStart, end };
      this.#partStart = -1;
      return;
    }
    const part = this.#found;
    const cut = { name: this.#name, start: this.#start, end, keys: keys - this.#keys, ...(part && { part }) };
    const former = this.#cuts.findIndex(({ name }) => name === cut.name);
    if (former < 0) this.#cuts.push(cut);
    else this.#cuts[former] = cut;
  }

  found(): readonly Cut[] {
    return this.#cuts;
  }

  /** Whether the string that begins there is this one, written without escapes. */
  #isKey(at: number, name: string): boolean {
    const bytes = this.#bytes;
    if (bytes[at + 1 + name.length] !== QUOTE) return false;
    for (let i = 0; i < name.length; i++) if (bytes[at + 1 + i] !== name.charCodeAt(i)) return false;
    return true;
  }
}

/** The index of the quote that ends the string whose content starts at `from`; -1 when there is none. */
function stringEnd(bytes: Uint8Array, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let first = end;
    while (first > from && bytes[first - 1] === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}
