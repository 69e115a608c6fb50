import { END, endsLine, isBlank, isDigit, SPACE, TAB } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { type Token, token } from "./token.js";

const PLUS = 0x2b;
const MINUS = 0x2d;
const ZERO = 0x30;
const HASH = 0x23;
const LITERAL = 0x7c;

/** The header behind `|` or `>`. */
interface Header {
  /** The line breaks at the end that are kept: one, all (`+`) or none (`-`). */
  readonly chomping: "clip" | "keep" | "strip";
  /** Indentation beyond the enclosing block's; 0: that of the first line. */
  readonly indentation: number;
}

/**
 * Reads a scalar of whole lines, from its `|` or `>` on.
 * @param parent indentation of the enclosing block, -1 for none
 * @throws YamlError for an invalid header, or a tab in the indentation
 */
export function readBlockScalar(cursor: Cursor, parent: number): Token {
  const start = cursor.at;
  const folded = cursor.code(start) !== LITERAL;
  const { chomping, indentation } = readHeader(cursor);
  const lines = new Lines(cursor, start, indentation > 0 ? Math.max(parent, 0) + indentation : 0);
  let end = cursor.at;
  if (cursor.atBreak()) cursor.skipBreak();
  let breaks = lines.skipEmpty(parent);
  let text = "";
  /** The break after the last line with text, not yet part of it. */
  let last = "";
  let lastIndented = false;
  while (cursor.column === lines.indent && cursor.code(cursor.at) !== END) {
    const indented = isBlank(cursor.code(cursor.at));
    // A break between two lines that begin with text is folded to a space; those of empty lines stay.
    if (folded && !lastIndented && !indented && last === "\n") text += breaks === "" ? " " : breaks;
    else text += last + breaks;
    lastIndented = indented;
    const from = cursor.at;
    cursor.skipLine();
    text += cursor.text.slice(from, cursor.at);
    end = cursor.at;
    last = cursor.atBreak() ? cursor.skipBreak() : "";
    breaks = lines.skipEmpty(parent);
  }
  if (chomping !== "strip") text += last;
  if (chomping === "keep") text += breaks;
  return token("scalar", start, end, text, "", folded ? "folded" : "literal");
}

function readHeader(cursor: Cursor): Header {
  const start = cursor.at;
  cursor.at++;
  let chomping: Header["chomping"] = "clip";
  let indentation = 0;
  // One of each, in any order.
  for (let i = 0; i < 2; i++) {
    const c = cursor.code(cursor.at);
    if ((c === PLUS || c === MINUS) && chomping === "clip") chomping = c === PLUS ? "keep" : "strip";
    else if (isDigit(c) && indentation === 0) {
      indentation = c - ZERO;
      if (indentation === 0) throw cursor.error("the indentation of a block of lines is 1 to 9");
    } else break;
    cursor.at++;
  }
  cursor.skipBlanks();
  if (cursor.code(cursor.at) === HASH) cursor.skipLine();
  if (!endsLine(cursor.code(cursor.at))) {
    throw cursor.error("behind | or > of a block of lines comes nothing but a comment", start);
  }
  return { chomping, indentation };
}

/** The lines of a block scalar; the first that is not empty sets the indentation of all. */
class Lines {
  readonly #cursor: Cursor;
  readonly #start: number;
  /** 0 until it is known. */
  indent: number;

  constructor(cursor: Cursor, start: number, indent: number) {
    this.#cursor = cursor;
    this.#start = start;
    this.indent = indent;
  }

  /** Skips empty lines and the indentation of the next. Answers the breaks. */
  skipEmpty(parent: number): string {
    const cursor = this.#cursor;
    let breaks = "";
    let deepest = 0;
    for (;;) {
      while (this.#isIndentation() && cursor.code(cursor.at) === SPACE) cursor.at++;
      deepest = Math.max(deepest, cursor.column);
      if (this.#isIndentation() && cursor.code(cursor.at) === TAB) {
        throw cursor.error("a tab indents a line of the block that begins here: use spaces", this.#start);
      }
      if (!cursor.atBreak()) break;
      breaks += cursor.skipBreak();
    }
    if (this.indent === 0) this.indent = Math.max(deepest, parent + 1, 1);
    return breaks;
  }

  #isIndentation(): boolean {
    return this.indent === 0 || this.#cursor.column < this.indent;
  }
}
