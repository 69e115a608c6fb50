/** Strings made of other strings (spec kubernetes-cel.md 4.2). */

import { SHORT_ESCAPES } from "../../data/go/quoted-text.js";
import { utf8Length } from "../../data/utf8.js";
import { CelError } from "../values/cel-error.js";
import { codePointLength, codePointsOf } from "../values/code-points.js";
import { MAX_TEXT_LENGTH, tooLarge } from "../values/limits.js";
import type { Result, Value } from "../values/value.js";
import {
  escapeUnits,
  insertUnits,
  LONG_TEXT,
  replaceUnits,
  reverseUnits,
  SHORT_SEARCHED,
  shiftUnits,
} from "./long-text.js";
import { printedValue } from "./printed-value.js";

type Int = number | bigint;

/** Whether all characters are ASCII; other letters have another case, too. */
const isAscii = (text: string): boolean => utf8Length(text) === text.length;

/** The difference between an ASCII letter and the same in the other case. */
const CASE = 0x20;

/** `lowerAscii`: only the letters A to Z change. The built-in function finds out whether a text is in lower case already, which it does quickly. */
export function lowerAscii(text: string): string {
  const lower = text.toLowerCase();
  if (lower === text || isAscii(text)) return lower;
  if (text.length > LONG_TEXT) return shiftUnits(text, 0x41, 0x5a, CASE);
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** `upperAscii`: only the letters a to z change. */
export function upperAscii(text: string): string {
  const upper = text.toUpperCase();
  if (upper === text || isAscii(text)) return upper;
  if (text.length > LONG_TEXT) return shiftUnits(text, 0x61, 0x7a, -CASE);
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** A limit of pieces: all when negative. */
const countOf = (limit: Int): number => (limit < 0 ? Number.POSITIVE_INFINITY : Number(limit));

/** `replace`: the first `limit` occurrences of `from`; an empty one stands before every code point and at the end. */
export function replace(text: string, from: string, to: string, limit: Int = -1): Result {
  const count = countOf(limit);
  if (count === 0 || from === to) return text;
  if (from === "") return insertBetween(text, to, count);
  const first = text.indexOf(from);
  if (first === -1) return text;
  if (text.length <= BUILT_IN && to.length <= BUILT_IN) return replaceShort(text, from, to, count, first);
  const mayHaveMany = text.length > LONG_TEXT && count >= MANY_PLACES && from.length <= SHORT_SEARCHED;
  if (mayHaveMany && hasMany(text, from)) {
    return replaceUnits(text, from, to, count, MAX_TEXT_LENGTH) ?? tooLarge();
  }
  const pieces = splitUpTo(text, from, count + 1);
  return text.length + (pieces.length - 1) * to.length > MAX_TEXT_LENGTH ? tooLarge() : joined(pieces, to);
}

/** Replaces in a short text, of which the first place is known. */
function replaceShort(text: string, from: string, to: string, count: number, first: number): string {
  let result = first === 0 ? to : text.slice(0, first) + to;
  let start = first + from.length;
  for (let done = 1; done < count; done++) {
    const index = text.indexOf(from, start);
    if (index === -1) break;
    result += index === start ? to : text.slice(start, index) + to;
    start = index + from.length;
  }
  return result + text.slice(start);
}

function insertBetween(text: string, inserted: string, count: number): Result {
  const places = Math.min(count, codePointLength(text) + 1);
  if (text.length + places * inserted.length > MAX_TEXT_LENGTH) return tooLarge();
  return insertUnits(text, inserted, places);
}

/** Occurrences in a long text from which on all together cost more than reading every character. */
const MANY_PLACES = 1_000;

const hasMany = (text: string, from: string): boolean => text.split(from, MANY_PLACES).length === MANY_PLACES;

/** Characters from which on the built-in `split` and `join` are faster: each call of them takes as long as ten steps of a loop. */
const BUILT_IN = 256;
/** The same as a number of texts to be joined. */
const MANY_TEXTS = 16;

/** At most `count` pieces; the last one is the rest. */
function splitUpTo(text: string, separator: string, count: number): string[] {
  if (text.length > BUILT_IN && count >= MANY_PLACES) return splitLong(text, separator, count);
  let index = count === 1 ? -1 : text.indexOf(separator);
  if (index === -1) return [text];
  let start = index + separator.length;
  const first = text.slice(0, index);
  index = count === 2 ? -1 : text.indexOf(separator, start);
  // Most texts have two pieces, and a list that is written down takes less room than one that grows.
  if (index === -1) return [first, text.slice(start)];
  const pieces = [first];
  do {
    pieces.push(text.slice(start, index));
    start = index + separator.length;
    index = pieces.length < count - 1 ? text.indexOf(separator, start) : -1;
  } while (index !== -1);
  pieces.push(text.slice(start));
  return pieces;
}

/** The same by the built-in function, which is fast when it makes all pieces, and cannot keep the rest as the last one. */
function splitLong(text: string, separator: string, count: number): string[] {
  const pieces = text.split(separator);
  if (pieces.length <= count) return pieces;
  pieces.length = count - 1;
  let start = 0;
  for (const { length } of pieces) start += length + separator.length;
  pieces.push(text.slice(start));
  return pieces;
}

/** Texts passed to the built-in `join` at a time: it takes several times as long for each of half a million. */
const JOINED_AT_ONCE = 512;

/** The texts with a separator between them. */
function joined(texts: readonly string[], separator: string): string {
  const { length } = texts;
  if (length > JOINED_AT_ONCE) {
    const parts: string[] = [];
    for (let from = 0; from < length; from += JOINED_AT_ONCE)
      parts.push(texts.slice(from, from + JOINED_AT_ONCE).join(separator));
    return joined(parts, separator);
  }
  if (length === 0 || length > MANY_TEXTS) return texts.join(separator);
  let text = texts[0] as string;
  for (let index = 1; index < length; index++) text += separator + texts[index];
  return text;
}

/** `split`: an empty separator cuts into code points. */
export function split(text: string, separator: string, limit: Int = -1): Result {
  const count = countOf(limit);
  if (count === 0) return [];
  if (separator !== "") return splitUpTo(text, separator, count);
  const characters = codePointsOf(text);
  return characters.length <= count
    ? characters
    : [...characters.slice(0, count - 1), characters.slice(count - 1).join("")];
}

/** `join`: the elements must be strings; the caller has checked only the first. */
export function join(list: readonly Value[], separator = ""): Result {
  let length = Math.max(0, list.length - 1) * separator.length;
  for (const element of list) {
    if (typeof element !== "string") return new CelError(`join: invalid input: ${printedValue(element)}`);
    length += element.length;
  }
  return length > MAX_TEXT_LENGTH ? tooLarge() : joined(list as readonly string[], separator);
}

/**
 * The piece at `index` of those that {@link split} would make, without the others; `undefined` where there is none, and for an empty separator.
 */
export function piece(text: string, separator: string, index: number): string | undefined {
  if (separator === "") return undefined;
  let start = 0;
  for (let passed = 0; passed < index; passed++) {
    const found = text.indexOf(separator, start);
    if (found === -1) return undefined;
    start = found + separator.length;
  }
  const end = text.indexOf(separator, start);
  return end === -1 ? text.slice(start) : text.slice(start, end);
}

/** Unicode's White_Space beyond ASCII: the characters JavaScript trims except U+FEFF, and U+0085. */
const WHITE_SPACE: ReadonlySet<number> = new Set([
  ...[0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
  ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
]);

function isWhiteSpace(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return WHITE_SPACE.has(code);
}

/** `trim`: without white space on either side. */
export function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text, start)) start++;
  while (end > start && isWhiteSpace(text, end - 1)) end--;
  return text.slice(start, end);
}

/** `strings.quote`: in double quotes, with escapes for quotes, backslashes and the control characters that have one. */
export function quote(text: string): string {
  if (text.length > LONG_TEXT) return escapeUnits(text, QUOTE, ESCAPE_UNITS);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that have an escape
  return `"${text.replace(/[\u0007-\r\\"]/g, (character) => SHORT_ESCAPES.get(character) as string)}"`;
}

const QUOTE = 0x22;
const ESCAPE_UNITS: ReadonlyMap<number, number> = new Map(
  [...SHORT_ESCAPES].map(([character, escaped]) => [character.charCodeAt(0), escaped.charCodeAt(1)]),
);

/** `reverse`: the code points in reverse. */
export const reverse = (text: string): string =>
  text.length > LONG_TEXT ? reverseUnits(text) : [...codePointsOf(text)].reverse().join("");
