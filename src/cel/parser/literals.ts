/** The values of literal tokens (spec kubernetes-cel.md 1.2 and 1.3). */
import { INT_MAX, INT_MIN, makeDouble, makeInt, UINT_MAX } from "../values/numbers.js";
import { Uint, uintOf } from "../values/uint.js";
import type { Value } from "../values/value.js";

/** The error of a token that is well-formed, but has no value: a number out of range, say. */
export class LiteralError {
  constructor(readonly message: string) {}
}

/** Digits up to which decimal numbers are exact as JavaScript numbers. */
const EXACT_DIGITS = 15;

/** The value of an INT token, with the sign before it. */
export function intValue(text: string, negative: boolean): Value | LiteralError {
  if (text.length <= EXACT_DIGITS) {
    const small = Number(text);
    return negative && small !== 0 ? -small : small;
  }
  const magnitude = BigInt(text);
  const value = negative ? -magnitude : magnitude;
  if (value < INT_MIN || value > INT_MAX) return new LiteralError("invalid int literal");
  return makeInt(value);
}

/** The value of a UINT token, with its `u`. */
export function uintValue(text: string): Value | LiteralError {
  const digits = text.slice(0, -1);
  if (digits.length <= EXACT_DIGITS) return new Uint(Number(digits));
  const value = BigInt(digits);
  return value > UINT_MAX ? new LiteralError("invalid uint literal") : uintOf(value);
}

/** The value of a FLOAT token, with the sign before it. Integral doubles are `Number` objects (see values/value.ts). */
export function doubleValue(text: string, negative: boolean): Value | LiteralError {
  const value = negative ? -Number(text) : Number(text);
  if (!Number.isFinite(value)) return new LiteralError("invalid double literal");
  return makeDouble(value);
}

/** The text between the quotes of a STRING token, with CR LF and CR made LF, and whether escapes are to be processed. */
function content(token: string): { readonly text: string; readonly raw: boolean } {
  const raw = token[0] === "r" || token[0] === "R";
  const from = raw ? 1 : 0;
  const quote = token[from]!;
  const triple = token.length >= from + 6 && token.startsWith(quote.repeat(3), from);
  const width = triple ? 3 : 1;
  const text = token.slice(from + width, -width);
  return { text: text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text, raw };
}

/** The value of a STRING token. */
export function stringValue(token: string): string | LiteralError {
  const { text, raw } = content(token);
  if (raw || !text.includes("\\")) return text;
  let value = "";
  let at = 0;
  while (at < text.length) {
    const backslash = text.indexOf("\\", at);
    if (backslash < 0) break;
    const sequence = readEscape(text, backslash);
    if (sequence.point > 0x10ffff || (sequence.point >= 0xd800 && sequence.point < 0xe000)) {
      return new LiteralError("invalid unicode code point");
    }
    value += text.slice(at, backslash) + String.fromCodePoint(sequence.point);
    at = sequence.end;
  }
  return value + text.slice(at);
}

/** The value of a BYTES token without its `b`. */
export function bytesValue(token: string): Uint8Array | LiteralError {
  const { text, raw } = content(token);
  const encoder = new TextEncoder();
  if (raw || !text.includes("\\")) return encoder.encode(text);
  const bytes: number[] = [];
  let at = 0;
  while (at < text.length) {
    const backslash = text.indexOf("\\", at);
    const plain = backslash < 0 ? text.length : backslash;
    for (const byte of encoder.encode(text.slice(at, plain))) bytes.push(byte);
    if (backslash < 0) break;
    const letter = text[backslash + 1];
    if (letter === "u" || letter === "U") return new LiteralError("unable to unescape string");
    const sequence = readEscape(text, backslash);
    bytes.push(sequence.point);
    at = sequence.end;
  }
  return Uint8Array.from(bytes);
}

const SIMPLE_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["a", 0x07],
  ["b", 0x08],
  ["f", 0x0c],
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
  ["v", 0x0b],
]);

/** The escape at a backslash; the lexer has checked that it is well-formed. */
function readEscape(text: string, backslash: number): { readonly point: number; readonly end: number } {
  const letter = text[backslash + 1]!;
  const digits = backslash + 2;
  const hex = (count: number) => ({
    point: Number.parseInt(text.slice(digits, digits + count), 16),
    end: digits + count,
  });
  switch (letter) {
    case "x":
    case "X":
      return hex(2);
    case "u":
      return hex(4);
    case "U":
      return hex(8);
    case "0":
    case "1":
    case "2":
    case "3":
      return { point: Number.parseInt(text.slice(backslash + 1, digits + 2), 8), end: digits + 2 };
    default:
      return { point: SIMPLE_ESCAPES.get(letter) ?? letter.charCodeAt(0), end: digits };
  }
}
