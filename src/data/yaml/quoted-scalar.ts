import { END, hexDigit, isBlank, isBreak } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { type Token, token } from "./token.js";

const BACKSLASH = 0x5c;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

/** The characters of escapes by the letter after the backslash. JSON's `\/` is missing: Kubernetes' reader does not know it. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["a", "\x07"],
  ["b", "\b"],
  ["t", "\t"],
  ["\t", "\t"],
  ["n", "\n"],
  ["v", "\v"],
  ["f", "\f"],
  ["r", "\r"],
  ["e", "\x1b"],
  [" ", " "],
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
  ["N", "\x85"],
  ["_", "\xa0"],
  ["L", "\u2028"],
  ["P", "\u2029"],
]);
/** Number of digits after the letter of an escape with a character's number. */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

/**
 * Reads a scalar in quotes, which begins here. Its lines may stand in any column.
 * @throws YamlError when it does not end, or has an invalid escape
 */
export function readQuotedScalar(cursor: Cursor): Token {
  const start = cursor.at;
  const quote = cursor.code(start);
  cursor.at++;
  let text = "";
  for (;;) {
    if (cursor.atDocumentMark()) {
      throw cursor.error("a line that begins a document stands in the quoted text that begins here", start);
    }
    const run = visibleEnd(cursor, quote);
    const written = cursor.text.slice(cursor.at, run);
    text = text === "" ? written : text + written;
    cursor.at = run;
    const c = cursor.code(run);
    if (c === quote) {
      if (quote === DOUBLE_QUOTE || cursor.code(run + 1) !== SINGLE_QUOTE) break;
      text += "'";
      cursor.at += 2;
    } else if (c === BACKSLASH) {
      if (isBreak(cursor.code(run + 1))) {
        cursor.at++;
        cursor.skipBreak();
        text += lineGap(cursor, "");
      } else text += readEscape(cursor);
    } else if (c === END) throw cursor.error("the quoted text that begins here has no end", start);
    else text += lineGap(cursor, undefined);
  }
  cursor.at++;
  return token("scalar", start, cursor.at, text, "", quote === SINGLE_QUOTE ? "single" : "double");
}

/**
 * The end of the literal text: at a quote, an escape, the end, or the blanks before a line break. Blanks within a line
 * belong to it.
 */
function visibleEnd(cursor: Cursor, quote: number): number {
  let end = cursor.at;
  for (let at = end; ; at++) {
    const c = cursor.code(at);
    if (isBlank(c)) continue;
    if (c === quote || (c === BACKSLASH && quote === DOUBLE_QUOTE)) return at;
    if (c === END || isBreak(c)) return end;
    end = at + 1;
  }
}

/**
 * Skips blanks and breaks up to the next text.
 * @param escaped the rest of a preceding escaped break; undefined without one
 * @returns their value: a space for one break, else the breaks after the first
 */
function lineGap(cursor: Cursor, escaped: string | undefined): string {
  let first = escaped;
  let others = "";
  for (;;) {
    const c = cursor.code(cursor.at);
    if (isBlank(c)) cursor.at++;
    else if (!isBreak(c)) break;
    else if (first === undefined) first = cursor.skipBreak();
    else others += cursor.skipBreak();
  }
  if (first !== "\n") return (first ?? "") + others;
  return others === "" ? " " : others;
}

function readEscape(cursor: Cursor): string {
  const code = cursor.code(cursor.at + 1) === END ? undefined : cursor.text.codePointAt(cursor.at + 1);
  const letter = code === undefined ? "" : String.fromCodePoint(code);
  const digits = DIGITS.get(letter);
  if (digits === undefined) {
    const character = ESCAPES.get(letter);
    if (character === undefined)
      throw cursor.error(`the escape \\${letter} stands for nothing: use single quotes, or write \\\\${letter}`);
    cursor.at += 2;
    return character;
  }
  let value = 0;
  for (let i = 0; i < digits; i++) {
    const digit = hexDigit(cursor.code(cursor.at + 2 + i));
    if (digit < 0) throw cursor.error(`after \\${letter} come ${digits} hexadecimal digits`);
    value = value * 16 + digit;
  }
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
    throw cursor.error(
      "an escape stands for half a character, or none: write the character itself, or \\U and 8 digits",
    );
  }
  cursor.at += 2 + digits;
  return String.fromCodePoint(value);
}
