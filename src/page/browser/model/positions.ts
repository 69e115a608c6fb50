/**
 * Places in a text: the server counts lines and code points from 1 (`PageProblem`), the browser UTF-16 units from 0.
 */

/** The place of a column in its line, in UTF-16 units from 0. A column past the end is the end. */
export function unitOfColumn(line: string, column: number): number {
  let unit = 0;
  for (let left = column - 1; left > 0 && unit < line.length; left -= 1) {
    unit += (line.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

/** The column, in code points from 1, of a UTF-16 unit of its line. */
export function columnOfUnit(line: string, unit: number): number {
  let column = 1;
  for (let at = 0; at < Math.min(unit, line.length); column += 1) at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return column;
}

/** The characters of a word, for mistakes with only a beginning. */
const WORD = /[\p{L}\p{N}_./-]+/uy;

/** A stretch of a line, in UTF-16 units from 0. `to` is `from` at the end of the line: something is missing there. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The name of a call: CEL gives the place of its parenthesis. */
const CALLED = /\w+$/;

/** The underlined part: up to the end column, or else the word; at least one character where there is one. Of a call it is the name. */
export function stretchOf(line: string, column: number, endColumn?: number): Stretch {
  const from = unitOfColumn(line, column);
  const atLeast = unitOfColumn(line, column + 1);
  const called = line[from] === "(" && (endColumn ?? 0) <= column + 1 ? CALLED.exec(line.slice(0, from)) : null;
  if (called !== null) return { from: called.index, to: from };
  if (endColumn !== undefined) return { from, to: Math.max(unitOfColumn(line, endColumn), atLeast) };
  WORD.lastIndex = from;
  return { from, to: Math.max(WORD.test(line) ? WORD.lastIndex : 0, atLeast) };
}

/** The lines of a text, as an editor shows them. */
export function linesOf(text: string): readonly string[] {
  return text.split("\n");
}

/** The beginning of a line (from 1) in its text, in UTF-16 units. A line past the end is the last. */
export function startOfLine(lines: readonly string[], line: number): number {
  let start = 0;
  for (let index = 0; index < Math.min(line, lines.length) - 1; index += 1) start += (lines[index]?.length ?? 0) + 1;
  return start;
}
