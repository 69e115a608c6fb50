/**
 * Scans a JSON text once before it is read: whether the built-in parser reads it exactly, whether keys are repeated, and the places of the values whose
 * own text is wanted. The scan itself is WebAssembly (json-scan.wat).
 */
import { readFileSync } from "node:fs";
import { JSON_MAX_DEPTH } from "./json-reader.js";

/** The values whose own text is wanted: a member of the document, or members of that member. Only objects and lists are found. */
export interface WantedCuts {
  readonly member: string;
  /** Absent: the member itself. */
  readonly inner?: readonly string[];
  /** Whether keys in them may be repeated, whatever the rule for other objects. */
  readonly mayRepeat: boolean;
  /** A member of a member of the wanted values that is to be found, too. */
  readonly part?: readonly [member: string, inner: string];
}

/** The place of a value's text, with its brackets. */
export interface Cut extends Range {
  readonly name: string;
  /** Number of keys in it as they are written: more than the value has when one is repeated. */
  readonly keys: number;
  /** The place of the wanted part of it, if it has one. */
  readonly part?: Range;
}

/** The place of a text, in bytes. */
export interface Range {
  readonly start: number;
  /** The place behind its last byte. */
  readonly end: number;
}

/** The findings about a text of JSON. */
export interface JsonScan {
  /** Whether the built-in parser reads its numbers exactly, and no key in it can be written in another way: has `\u` or `\/`. */
  readonly isExact: boolean;
  /**
   * The places of keys with escapes: any of {@link ESCAPED_BESIDE}, {@link ESCAPED_WITHIN} and {@link ESCAPED_IN_PART}; 0 is nowhere. The built-in parser must
   * not read them: some versions of V8 confuse such a key with another one that they have seen at the same place (nodejs/node#63785).
   */
  readonly escapedKeys: number;
  /** Number of keys down to the requested depth, without those in values that were cut out and may repeat them. */
  readonly keys: number;
  /** The last value of each wanted name. */
  readonly cuts: readonly Cut[];
  /** Whether there may be escapes of surrogates, such as `\ud83d`. */
  readonly surrogates: boolean;
  /**
   * Whether it is known that no object has a repeated key. It is not where keys have escapes that may be written in another way, nor where objects with
   * hundreds of keys have 200,000 in all, or keys that were chosen to be slow to compare.
   */
  readonly isUnique: boolean;
  /** Whether it is known to be JSON, so that any value in it can be read by itself. Strings that are longer than a window are not checked. */
  readonly isWhole: boolean;
}

/** A key with escapes stands beside the wanted values; in one of them; in the wanted part of one. */
export const ESCAPED_BESIDE = 1;
export const ESCAPED_WITHIN = 2;
export const ESCAPED_IN_PART = 4;

/** Bytes that are scanned at a time: the module's room. A string that is longer is skipped in another way, which takes twice as long. */
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

/** Scans one text after the other; its findings about one are void with the next. */
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
    // It refers to the text, which may be a large body.
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

/** The scanner of a thread: texts are scanned one after the other. */
const scanner = new JsonScanner();

/**
 * Scans a text: undefined when it is not JSON, or nests too deeply. A wrong guess on broken text only means that the other reader reports the error.
 * @param keyDepth greatest depth of objects whose keys are counted; 1 is the document itself
 */
export function scanJson(bytes: Uint8Array, keyDepth: number, wanted?: WantedCuts): JsonScan | undefined {
  return scanner.scan(bytes, Math.min(keyDepth, JSON_MAX_DEPTH), wanted);
}

/** Finds the wanted values among those that open. */
class Cutter {
  /** The depth of the wanted values; the document itself has 1. */
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
  /** Whether the open member of the wanted value has the part. */
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
   * @param key the beginning of its key
   * @returns whether the text of the value is wanted, in the module's form
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
