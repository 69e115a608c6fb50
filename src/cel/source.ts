/** An expression's text: code points, lines, and how errors in it are displayed (spec kubernetes-cel.md 1.1 and 7.7). */

/** Longest line, in UTF-8 bytes, that is shown below an error. */
const MAX_SHOWN_LINE_BYTES = 16_384;

/** A place in a source. */
export interface Location {
  /** 1-based; -1 for no place. */
  readonly line: number;
  /** 0-based, in code points; -1 for no place. */
  readonly column: number;
}

/** The place of errors that concern the whole expression. */
export const NO_LOCATION: Location = Object.freeze({ line: -1, column: -1 });

/** Source text. Positions handed out are code point offsets; `index` means an index into the (UTF-16) string. */
export class Source {
  /** The text, with lone surrogates replaced: it is well-formed Unicode. */
  readonly text: string;
  /** Length in code points. */
  readonly length: number;
  /** Code point offset by string index; absent when the two are the same. */
  readonly #offsets: Uint32Array | undefined;
  #lineStarts: number[] | undefined;

  constructor(text: string) {
    this.text = text.isWellFormed() ? text : text.toWellFormed();
    this.#offsets = /[\ud800-\udbff]/.test(this.text) ? codePointOffsets(this.text) : undefined;
    this.length = this.#offsets === undefined ? this.text.length : this.#offsets[this.text.length]!;
  }

  /** The code point offset of a string index. */
  offsetOf(index: number): number {
    return this.#offsets === undefined ? index : this.#offsets[index]!;
  }

  /** Line and column of a code point offset. An offset beyond the end lies on the last line. */
  locationOf(offset: number): Location {
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! };
  }

  /** An error with its line and a pointer below it, as the reference prints it. */
  display(location: Location, message: string): string {
    const head = `ERROR: <input>:${location.line}:${location.column + 1}: ${message}`;
    const line = this.#line(location.line);
    if (line === undefined || new TextEncoder().encode(line).length > MAX_SHOWN_LINE_BYTES) return head;
    const shown = line.replaceAll("\t", " ");
    const before: string[] = [];
    const points = shown[Symbol.iterator]();
    let point = points.next();
    while (before.length < location.column && point.done !== true) {
      before.push(isWide(point.value) ? "\uff0e" : ".");
      point = points.next();
    }
    const pointer = point.done !== true && isWide(point.value) ? "\uff3e" : "^";
    return `${head}\n | ${shown}\n | ${before.join("")}${pointer}`;
  }

  #line(line: number): string | undefined {
    const starts = this.#starts();
    if (line < 1 || line > starts.length || this.text.length === 0) return undefined;
    return this.text.split("\n")[line - 1];
  }

  /** The code point offsets at which lines start. */
  #starts(): number[] {
    if (this.#lineStarts === undefined) {
      const starts = [0];
      for (let index = this.text.indexOf("\n"); index >= 0; index = this.text.indexOf("\n", index + 1)) {
        starts.push(this.offsetOf(index + 1));
      }
      this.#lineStarts = starts;
    }
    return this.#lineStarts;
  }
}

/** Whether a character takes more than one byte in UTF-8, hence a full-width pointer. */
function isWide(character: string): boolean {
  return character.codePointAt(0)! > 0x7f;
}

function codePointOffsets(text: string): Uint32Array {
  const offsets = new Uint32Array(text.length + 1);
  let offset = 0;
  for (let index = 0; index < text.length; index += 1) {
    offsets[index] = offset;
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) {
      index += 1;
      offsets[index] = offset;
    }
    offset += 1;
  }
  offsets[text.length] = offset;
  return offsets;
}
