import type { PageProblem } from "../../api.js";

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

/** A stretch of a line, in UTF-16 units from 0. `to` is `from` at the end of the line: something is missing there. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Most characters that are looked at before a token: the patterns take quadratic time in the longest run of letters or blanks. */
const NEAR = 256;
const BEFORE_KEY = /^\s*(?:- +)*/;
const KEY = /^(\s*(?:- +)*)([^\s"'#[\]{},&*!|>%@`][^#]*?)\s*:(?:\s|$)/;
/** The text before the value of a key or an item. */
const BEFORE_VALUE = /(?:[:,[{]|^\s*-)\s*$/;
const ALIAS = /^[*&!]+[^\s,[\]{}]+/;
/** The text before a text in quotes: an operand or a value may begin behind it. */
const BEFORE_TEXT = /(?:^|[\s[({,:=!<>&|?+*/%-])$/;
/** Texts in quotes; `\"` is one of a text in double quotes. */
const TEXT = /^(?:\\"(?:[^"\\]|\\[^"])*\\"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.|'')*')/;
const UNENDED = /^\\?["'](?:.*[^\s"'])?/;
/** In a text in single quotes they are doubled. */
const IN_SINGLE_QUOTES = /[:-]\s+'/;
const DOUBLED = /^''[^']*''/;
const FIELD = /^\.\??\s*(`[^`]*`|\w+)/;
const NAME = /^[\p{L}\p{N}_]+/u;
const NAME_BEFORE = /[\p{L}\p{N}_]+$/u;
const OPERATOR = /^(?:=[<>]|[=!<>]=*|&+|\|+)/;

/** The token at a place of a line. Of a call CEL gives the parenthesis, of a field the dot: the token is the name. */
function tokenAt(line: string, from: number): Stretch {
  const [before, rest] = [line.slice(Math.max(0, from - NEAR), from), line.slice(from)];
  const [, indent, key] = KEY.exec(line.slice(0, NEAR)) ?? [];
  if (key !== undefined && indent?.length === from) return { from, to: from + key.length };
  const [name = ""] = NAME_BEFORE.exec(before) ?? [];
  if (rest.startsWith("(") && name !== "") return { from: from - name.length, to: from };
  const field = FIELD.exec(rest);
  if (field?.[1] !== undefined) return { from: from + field[0].length - field[1].length, to: from + field[0].length };
  const whole = (pattern: RegExp) => pattern.exec(rest)?.[0].length ?? 0;
  const text = (IN_SINGLE_QUOTES.test(line.slice(0, from)) && whole(DOUBLED)) || whole(TEXT) || whole(UNENDED);
  if (text > 0) return { from, to: from + (BEFORE_TEXT.test(before) ? text : 1) };
  const alias = BEFORE_VALUE.test(before) ? whole(ALIAS) : 0;
  const word = whole(NAME);
  const back = word > 0 ? name.length : rest.startsWith("=") ? (/[=!<>]*$/.exec(before)?.[0].length ?? 0) : 0;
  return { from: from - back, to: from + (alias || word || whole(OPERATOR)) };
}

/**
 * The underlined part of a line: up to the end column where that is more than a sign, or else the whole token, of at least one character where there is one.
 * @param field the name of the field that is wrong, where the place is that of a macro around it
 */
export function stretchOf(line: string, column: number, endColumn?: number, field?: string): Stretch {
  const from = unitOfColumn(line, column);
  const atLeast = unitOfColumn(line, column + 1);
  const end = endColumn === undefined ? from : unitOfColumn(line, endColumn);
  const named = field === undefined ? null : new RegExp(`\`?(?<![\\w-])${field}(?![\\w-])\`?`).exec(line.slice(from));
  if (named !== null) return { from: from + named.index, to: from + named.index + named[0].length };
  if (end > atLeast && line[from] !== "\\") return { from, to: end };
  const token = tokenAt(line, from);
  return token.to > from
    ? { from: token.from, to: Math.max(token.to, atLeast) }
    : token.to > token.from
      ? token
      : { from, to: atLeast };
}

/** A stretch of a text: `index` is its line, from 0. */
export interface Place extends Stretch {
  readonly index: number;
}

const BLOCK = /^[|>][-+\d]*\s*(?:#.*)?$/;
const UNDEFINED_FIELD = /undefined field '([\w-]+)'/;

/** The underlined parts of a mistake: of a value that goes on in other lines, those of each. */
export function placesOf(lines: readonly string[], problem: PageProblem): readonly Place[] {
  const index = Math.min(problem.line, lines.length) - 1;
  const line = lines[index] ?? "";
  const field = UNDEFINED_FIELD.exec(problem.message)?.[1];
  const first = { index, ...stretchOf(line, problem.column, problem.endColumn, field) };
  const rest = line.slice(first.from);
  if (problem.endColumn !== undefined || !BEFORE_VALUE.test(line.slice(0, first.from).slice(-NEAR))) return [first];
  const quote = TEXT.test(rest) ? undefined : /^["']/.exec(rest)?.[0];
  if (quote === undefined && !BLOCK.test(rest)) return [first];
  const indent = (KEY.test(line.slice(0, NEAR)) ? BEFORE_KEY : /^\s*/).exec(line)?.[0].length ?? 0;
  const others: Place[] = [];
  for (let at = index + 1; at < lines.length; at += 1) {
    const text = lines[at] ?? "";
    const from = text.search(/\S/);
    if (from === -1) continue;
    if (from <= indent) break;
    const close = quote === undefined ? -1 : text.lastIndexOf(quote);
    others.push({ index: at, from, to: close === -1 ? text.trimEnd().length : close + 1 });
    if (close !== -1) break;
  }
  if (quote !== undefined) return [{ index, from: first.from, to: line.trimEnd().length }, ...others];
  return others.length === 0 ? [first] : others;
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
