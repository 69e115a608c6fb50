/** Lines and columns of many offsets of one text. */
import { BYTE_ORDER_MARK } from "../../data/yaml.js";

/** A line feed, or a carriage return without one. */
const LINE_END = /\r\n|[\r\n]/g;

/** Made once for a text. */
export class Lines {
  readonly #starts: number[];
  readonly #text: string;
  /** The place that was asked for last: offsets come in order, and a text may be one long line. */
  #last = { line: 1, column: 1, offset: 0 };

  constructor(text: string) {
    this.#text = text;
    this.#starts = [text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0];
    for (const { index, 0: end } of text.matchAll(LINE_END)) this.#starts.push(index + end.length);
  }

  /** 1-based line and column (code points) of a UTF-16 offset. */
  place(offset: number): { readonly line: number; readonly column: number } {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const line = low + 1;
    const isBehind = this.#last.line === line && this.#last.offset <= offset;
    const known = isBehind ? this.#last : { column: 1, offset: this.#starts[low] ?? 0 };
    let { column } = known;
    for (const _ of this.#text.slice(known.offset, offset)) column++;
    this.#last = { line, column, offset };
    return { line, column };
  }
}
