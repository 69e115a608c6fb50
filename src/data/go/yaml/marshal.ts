/** Prints YAML exactly as go-yaml does. */
import { floatText } from "../../float-text.js";
import { printWith, type ScalarStyle, type YamlLayout } from "./printer.js";
import { analyze, isPlainText, isPrintable } from "./scalars.js";

/** Go-yaml v2's order of keys: letters after all others, numbers inside by their value. */
const compareKeys = (a: string, b: string): number => compare(a, b, false);

/** The order of v3: behind a digit, letters come before all others. */
const compareKeysOfVersion3 = (a: string, b: string): number => compare(a, b, true);

function compare(a: string, b: string, digitsTell: boolean): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === shorter) return order(a.length, b.length);
  // Two characters may share their first half.
  if (isLowHalf(a.charCodeAt(at)) && isLowHalf(b.charCodeAt(at))) at--;
  const [x, y] = [a.codePointAt(at) ?? 0, b.codePointAt(at) ?? 0];
  const [letterX, letterY] = [isLetter(x), isLetter(y)];
  if (letterX !== letterY) return letterX === (digitsTell && DIGIT_BEFORE.test(a.slice(0, at).slice(-2))) ? -1 : 1;
  return letterX ? order(x, y) : compareNumbers(a, b, at) || order(x, y);
}

const DIGIT_BEFORE = /\p{Nd}$/u;

function compareNumbers(a: string, b: string, at: number): number {
  // A zero counts when digits before it make it part of a number.
  const lead = (a[at] === "0" || b[at] === "0") && endsNumber(a, at) ? "1" : "0";
  const [digitsA, digitsB] = [digitsFrom(a, at), digitsFrom(b, at)];
  // Numbers beyond 64 bits overflow there, and so here.
  const byValue = order(BigInt.asIntN(64, BigInt(lead + digitsA)), BigInt.asIntN(64, BigInt(lead + digitsB)));
  return byValue || order(digitsA.length, digitsB.length);
}

function endsNumber(text: string, end: number): boolean {
  let at = end - 1;
  while (text[at] === "0") at--;
  return /^[1-9]$/.test(text[at] ?? "");
}

function digitsFrom(text: string, at: number): string {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end++;
  return text.slice(at, end);
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const isLowHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const isLetter = (code: number): boolean => /^\p{L}$/u.test(String.fromCodePoint(code));

function order<T extends number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Longest key, in bytes, that stands before its colon. */
const LONGEST_SIMPLE_KEY = 128;

/** The layout of go-yaml v2. */
export const GO_LAYOUT: YamlLayout = {
  order: compareKeys,
  deepLists: false,
  width: 80,
  styleOf: styleOfVersion2,
  isSimpleKey: (key) => !analyze(key).multiline && Buffer.byteLength(key) <= LONGEST_SIMPLE_KEY,
  escaped: (text) => Array.from(text, escaped).join(""),
  wordOf,
};

/** Control characters that are an error even when escaped: OPA parses its own output before it returns it. */
const UNKNOWN_CONTROL = /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;

/** The layout of go-yaml v3 with two spaces for a level, as in Rego's `yaml.marshal`, and the most characters of a guest's answer. */
const REGO_LAYOUT: YamlLayout = {
  ...GO_LAYOUT,
  order: compareKeysOfVersion3,
  deepLists: true,
  width: Number.POSITIVE_INFINITY,
  longest: 16 * 1024 * 1024,
  styleOf: styleOfRego,
};

/**
 * Prints a value with a newline at its end, as Rego's `yaml.marshal` does.
 * @throws when a text has a control character that YAML does not know, or the whole is longer than a guest's answer may be
 */
export const marshalYaml = (value: unknown): string => printWith(REGO_LAYOUT, value);

function styleOfVersion2(text: string, simpleKey: boolean): ScalarStyle {
  return goStyle(text, simpleKey, analyze(text).block);
}

/** The style of a text in version 3: it quotes merge keys, and keeps lines with tabs as they are. */
function styleOfRego(text: string, simpleKey: boolean): ScalarStyle {
  if (UNKNOWN_CONTROL.test(text)) throw new Error("yaml.marshal: control characters are not allowed");
  if (text === "<<") return "double";
  return goStyle(text, simpleKey, analyze(text).block || analyze(text.replaceAll("\t", "x")).block);
}

/** @param keepsLines whether a text of several lines may stand as it is */
function goStyle(text: string, simpleKey: boolean, keepsLines: boolean): ScalarStyle {
  const { multiline, plain, single } = analyze(text);
  let style: ScalarStyle = text.includes("\n") ? "literal" : isPlainText(text) ? "plain" : "double";
  if (simpleKey && multiline) style = "double";
  if (style === "plain" && !plain) style = "single";
  if (style === "single" && !single) style = "double";
  if (style === "literal" && (!keepsLines || simpleKey)) style = "double";
  return style;
}

/** The text of a number: integers beyond 64 bits are floats, and so are numbers with a fraction or an exponent. */
function wordOf(value: unknown): string {
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value && BigInt.asUintN(64, value) !== value)
    return floatWord(Number(value));
  return value instanceof Number ? floatWord(value.valueOf()) : String(value);
}

const floatWord = (value: number): string => floatText(value, "g", undefined).replace(/^\+/, "");

const ESCAPES: Readonly<Record<string, string>> = {
  "\u0000": "0",
  "\u0007": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\u001b": "e",
  '"': '"',
  "\\": "\\",
  "\u0085": "N",
  "\u2028": "L",
  "\u2029": "P",
};

function escaped(character: string): string {
  const short = ESCAPES[character];
  if (short !== undefined) return `\\${short}`;
  if (isPrintable(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const [letter, digits] = code <= 0xff ? ["x", 2] : code <= 0xffff ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).toUpperCase().padStart(Number(digits), "0")}`;
}
