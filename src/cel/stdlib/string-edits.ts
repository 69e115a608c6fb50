/** Strings made of other strings (spec kubernetes-cel.md 4.2). */
import { CelError } from "../values/cel-error.js";
import { codePointsOf } from "../values/code-points.js";
import { MAX_TEXT_LENGTH, tooLarge } from "../values/limits.js";
import { SHORT_ESCAPES } from "../values/quoted-text.js";
import type { Result, Value } from "../values/value.js";
import { printedValue } from "./printed-value.js";

type Int = number | bigint;

/** Beyond ASCII other letters have another case, too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is where ASCII begins
const NOT_ASCII = /[^\u0000-\u007f]/;

/** `lowerAscii`: only the letters A to Z change. What is in lower case already is found out by the built-in function, which is quick with it. */
export function lowerAscii(text: string): string {
  const lower = text.toLowerCase();
  if (lower === text || !NOT_ASCII.test(text)) return lower;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** `upperAscii`: only the letters a to z change. */
export function upperAscii(text: string): string {
  const upper = text.toUpperCase();
  if (upper === text || !NOT_ASCII.test(text)) return upper;
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** A limit of pieces: all when negative. */
const countOf = (limit: Int): number => (limit < 0 ? Number.POSITIVE_INFINITY : Number(limit));

/** `replace`: the first `limit` occurrences of `from`; an empty one stands before every code point and at the end. */
export function replace(text: string, from: string, to: string, limit: Int = -1): Result {
  const count = countOf(limit);
  if (count === 0 || from === to) return text;
  if (from === "") return insertBetween(text, to, count);
  if (!text.includes(from)) return text;
  const pieces = splitUpTo(text, from, count + 1);
  return text.length + (pieces.length - 1) * to.length > MAX_TEXT_LENGTH ? tooLarge() : joined(pieces, to);
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
  const pieces: string[] = [];
  let start = 0;
  while (pieces.length < count - 1) {
    const index = text.indexOf(separator, start);
    if (index === -1) break;
    pieces.push(text.slice(start, index));
    start = index + separator.length;
  }
  pieces.push(start === 0 ? text : text.slice(start));
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
