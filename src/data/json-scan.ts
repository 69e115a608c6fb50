/**
 * One pass over a JSON text before the built-in parser reads it: whether it reads it exactly, how many keys there are, and where the values stand whose
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
  /** Keys down to the depth that was asked for, without those in values that were cut out and may repeat them. */
  readonly keys: number;
  /** Of names that were wanted, the last one each. */
  readonly cuts: readonly Cut[];
  /** Whether there may be escapes such as `\u00e4`. */
  readonly unicode: boolean;
}

/** Bytes that are looked at at a time: what the module has room for. A string that is longer is passed over in another way, which takes twice as long. */
const WINDOW = 256 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

interface Scanner {
  readonly memory: WebAssembly.Memory;
  begin(): void;
  scan(length: number, base: number, isLast: number, keyDepth: number, wantedDepth: number, most: number): number;
  passed(at: number): void;
  keys(): number;
  unicode(): number;
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
    const scanner = this.#scanner;
    const cutter = wanted && new Cutter(bytes, wanted);
    this.#cutter = cutter;
    scanner.begin();
    const wantedDepth = cutter?.depth ?? 0;
    let unicode = false;
    let base = 0;
    while (base < bytes.length) {
      const end = Math.min(base + WINDOW, bytes.length);
      this.#window.set(base === 0 && end === bytes.length ? bytes : bytes.subarray(base, end));
      const isLast = end === bytes.length;
      const reached = scanner.scan(end - base, base, isLast ? 1 : 0, keyDepth, wantedDepth, JSON_MAX_DEPTH);
      if (reached < 0) return undefined;
      base += reached;
      if (base < end && (reached === 0 || isLast)) {
        // A string that is too long for a window, or never ends.
        scanner.passed(base);
        base = stringEnd(bytes, base + 1) + 1;
        unicode = true;
        if (base === 0) break;
      }
    }
    this.#cutter = undefined;
    return {
      keys: scanner.keys(),
      cuts: cutter?.found() ?? NO_CUTS,
      unicode: unicode || scanner.unicode() !== 0,
    };
  }
}

const NO_CUTS: readonly Cut[] = [];

/** One for all texts of a thread: they are passed over one after the other. */
const scanner = new JsonScanner();

/**
 * Finds out whether the built-in parser reads this text exactly and within the depth limit: undefined when it may not. The text need not be JSON: a wrong
 * guess on broken text only means that the other reader reports the error.
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
  #inMember = false;
  #name = "";
  #start = 0;
  #keys = 0;

  constructor(bytes: Uint8Array, { member, inner, mayRepeat }: WantedCuts) {
    this.#bytes = bytes;
    this.#member = member;
    this.#inner = inner ?? [];
    this.#wanted = mayRepeat ? 1 : 2;
    this.depth = inner === undefined ? 2 : 3;
  }

  /**
   * @param key where the last string before it begins: what stands before a value in an object is its key
   * @returns whether the text of the value is wanted, as the module takes it
   */
  open(depth: number, key: number, at: number, keys: number): number {
    if (depth === 2) this.#inMember = this.#isKey(key, this.#member);
    if (depth < this.depth || !this.#inMember) return 0;
    const name = depth === 2 ? this.#member : this.#inner.find((each) => this.#isKey(key, each));
    if (name === undefined) return 0;
    this.#name = name;
    this.#start = at;
    this.#keys = keys;
    return this.#wanted;
  }

  close(end: number, keys: number): void {
    const cut = { name: this.#name, start: this.#start, end, keys: keys - this.#keys };
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
