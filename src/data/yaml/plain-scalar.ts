import { END, endsLine, isBlank, isBreak, isGap, TAB } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { type Token, token } from "./token.js";

/**
 * Reads a scalar without quotes, which begins here and may continue over several lines.
 * @param indent the indentation of its further lines; in flow style only tabs are refused
 * @throws YamlError for a tab in the indentation of a later line
 */
export function readPlainScalar(cursor: Cursor, indent: number, flow: boolean): Token {
  const start = cursor.at;
  let end = start;
  let text = "";
  for (;;) {
    const from = cursor.at;
    if (cursor.atDocumentMark()) break;
    const stop = lineContentEnd(cursor, flow);
    if (stop === from) break;
    text = end === start ? cursor.text.slice(from, stop) : text + cursor.text.slice(from, stop);
    end = stop;
    cursor.at = stop;
    cursor.skipBlanks();
    if (!cursor.atBreak()) break;
    const gap = foldedGap(cursor, start, indent);
    if (!flow && cursor.column < indent) break;
    if (!goesOn(cursor, flow)) break;
    text += gap;
  }
  return token("scalar", start, end, text);
}

/** The end of the scalar's visible text in this line. */
function lineContentEnd(cursor: Cursor, flow: boolean): number {
  let end = cursor.at;
  for (let at = end; ; at++) {
    const c = cursor.code(at);
    if (isBlank(c)) {
      // A comment needs a blank before it.
      if (cursor.code(at + 1) === 0x23) return end;
      continue;
    }
    if (endsLine(c)) return end;
    if (c === 0x3a ? isGap(cursor.code(at + 1)) : flow && isFlowIndicator(c)) return end;
    end = at + 1;
  }
}

/** `,` `?` `[` `]` `{` `}` */
function isFlowIndicator(c: number): boolean {
  return c === 0x2c || c === 0x3f || c === 0x5b || c === 0x5d || c === 0x7b || c === 0x7d;
}

/** Skips line breaks and the indentation of the next line with text. Answers their value: a space, or the breaks after the first. */
function foldedGap(cursor: Cursor, start: number, indent: number): string {
  const first = cursor.skipBreak();
  let others = "";
  for (;;) {
    const c = cursor.code(cursor.at);
    if (isBreak(c)) others += cursor.skipBreak();
    else if (!isBlank(c)) break;
    else if (c === TAB && cursor.column < indent) {
      throw cursor.error("a tab indents a line of the text that begins here: use spaces", start);
    } else cursor.at++;
  }
  if (first !== "\n") return first + others;
  return others === "" ? " " : others;
}

/** Whether the scalar continues at the beginning of a line. */
function goesOn(cursor: Cursor, flow: boolean): boolean {
  const c = cursor.code(cursor.at);
  if (c === END || c === 0x23 || cursor.atDocumentMark()) return false;
  return c === 0x3a ? !isGap(cursor.code(cursor.at + 1)) : !(flow && isFlowIndicator(c));
}
