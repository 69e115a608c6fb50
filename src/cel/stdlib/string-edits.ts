/** Strings made of other strings (spec kubernetes-cel.md 4.2). */
import { CelError } from "../values/cel-error.js";
import { codePointsOf } from "../values/code-points.js";
import { MAX_TEXT_LENGTH, tooLarge } from "../values/limits.js";
import { SHORT_ESCAPES } from "../values/quoted-text.js";
import { utf8Length } from "../values/utf8.js";
import type { Result, Value } from "../values/value.js";
import { printedValue } from "./printed-value.js";

type Int = number | bigint;

/** Whether all characters are ASCII's; beyond, other letters have another case, too. */
const isAscii = (text: string): boolean => utf8Length(text) === text.length;

/** `lowerAscii`: only the letters A to Z change. What is in lower case already is found out by the built-in function, which is quick with it. */
export function lowerAscii(text: string): string {
  const lower = text.toLowerCase();
  if (lower === text || isAscii(text)) return lower;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** `upperAscii`: only the letters a to z change. */
export function upperAscii(text: string): string {
  const upper = text.toUpperCase();
  if (upper === text || isAscii(text)) return upper;
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
  if (text.length <= LONG_TEXT && to.length <= LONG_TEXT) return replaceShort(text, from, to, count, first);
  const pieces = splitUpTo(text, from, count + 1);
  return text.length + (pieces.length - 1) * to.length > MAX_TEXT_LENGTH ? tooLarge() : joined(pieces, to);
}

/** Of a short text, the first of whose places is known. */
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
  const characters = codePointsOf(text);
  const places = Math.min(count, characters.length + 1);
  if (text.length + places * inserted.length > MAX_TEXT_LENGTH) return tooLarge();
  const parts = characters.map((character, index) => (index < count ? inserted + character : character));
  return parts.join("") + (characters.length < count ? inserted : "");
}

/** Characters from which the built-in `split` and `join` are the quicker ones: each call of them takes as long as ten steps of a loop. */
const LONG_TEXT = 256;
/** The same in texts to be joined. */
const MANY_TEXTS = 16;

/** At most `count` pieces; the last one is the rest. */
function splitUpTo(text: string, separator: string, count: number): string[] {
  if (count === Number.POSITIVE_INFINITY && text.length > LONG_TEXT) return text.split(separator);
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

/** The texts with a separator between them. */
function joined(texts: readonly string[], separator: string): string {
  const { length } = texts;
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

/** `join`: the elements must be strings, which the caller has checked of the first only. */
export function join(list: readonly Value[], separator = ""): Result {
  let length = Math.max(0, list.length - 1) * separator.length;
  for (const element of list) {
    if (typeof element !== "string") return new CelError(`join: invalid input: ${printedValue(element)}`);
    length += element.length;
  }
  return length > MAX_TEXT_LENGTH ? tooLarge() : joined(list as readonly string[], separator);
}

/**
 * The piece at `index` of those that {@link split} would make, without the others; `undefined` where there is none, and of an empty separator.
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

/** Unicode's White_Space, which is what JavaScript trims but for U+FEFF, and U+0085 besides. */
const WHITE_SPACE = /\p{White_Space}/u;

function isWhiteSpace(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return WHITE_SPACE.test(text[index] as string);
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
export const quote = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that have an escape
  `"${text.replace(/[\u0007-\r\\"]/g, (character) => SHORT_ESCAPES.get(character) as string)}"`;

/** `reverse`: the code points in reverse. */
export const reverse = (text: string): string => [...codePointsOf(text)].reverse().join("");
