/** Finds lines and columns of many offsets of one text. */
import { BYTE_ORDER_MARK } from "./yaml-error.js";

/** UTF-16 units between offsets whose columns are prepared: a text may be one long line, and its places may be asked for in any order. */
const STEP = 256;
const LF = 0x0a;
const CR = 0x0d;

/** Made once for a text, which it reads once. */
export class Lines {
  readonly #text: string;
  readonly #starts: number[];
  /** Number of low surrogates before every {@link STEP}th offset. */
  readonly #halves: number[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#starts = [text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0];
    let halves = 0;
    for (let at = 0; at < text.length; at++) {
      if (at % STEP === 0) this.#halves.push(halves);
      const c = text.charCodeAt(at);
      // As in editors: at LF, CR LF or a single CR.
      if (c === LF || (c === CR && text.charCodeAt(at + 1) !== LF)) this.#starts.push(at + 1);
      else if (isSecondHalf(c)) halves++;
    }
    this.#halves.push(halves);
  }

  /** 1-based line and column (code points) of a UTF-16 offset. */
  place(offset: number): { readonly line: number; readonly column: number } {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const start = this.#starts[low] ?? 0;
    return { line: low + 1, column: offset - start - (this.#halvesBefore(offset) - this.#halvesBefore(start)) + 1 };
  }

  #halvesBefore(offset: number): number {
    const step = Math.min(Math.floor(offset / STEP), this.#halves.length - 1);
    let halves = this.#halves[step] ?? 0;
    for (let at = step * STEP; at < offset; at++) if (isSecondHalf(this.#text.charCodeAt(at))) halves++;
    return halves;
  }
}

const isSecondHalf = (c: number): boolean => (c & 0xfc00) === 0xdc00;
