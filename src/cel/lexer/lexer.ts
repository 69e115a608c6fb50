/** Splits an expression into tokens: longest match, white space and comments skipped (spec kubernetes-cel.md 1.2 and 1.3). */

import { characterEnd, scanString } from "./string-token.js";
import * as T from "./token-type.js";

/** Text that is not a token and begins none. */
export interface LexicalError {
  /** String indexes of the skipped text, `end` exclusive: it runs through the character that broke the match. */
  readonly start: number;
  readonly end: number;
  /** How many tokens come before it. */
  readonly tokensBefore: number;
}

/** The tokens of an expression as parallel arrays, with an end-of-file token last. Positions are string indexes. */
export interface Tokens {
  readonly types: readonly number[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly errors: readonly LexicalError[];
}

const KEYWORDS: ReadonlyMap<string, number> = new Map([
  ["in", T.IN],
  ["true", T.TRUE],
  ["false", T.FALSE],
  ["null", T.NULL],
]);

/** Token types of characters that are a token by themselves and never the start of a longer one. */
const SINGLE: ReadonlyMap<number, number> = new Map(
  Object.entries({
    "[": T.LEFT_BRACKET,
    "]": T.RIGHT_BRACKET,
    "{": T.LEFT_BRACE,
    "}": T.RIGHT_BRACE,
    "(": T.LEFT_PAREN,
    ")": T.RIGHT_PAREN,
    ",": T.COMMA,
    "-": T.MINUS,
    "?": T.QUESTION,
    ":": T.COLON,
    "+": T.PLUS,
    "*": T.STAR,
    "/": T.SLASH,
    "%": T.PERCENT,
  }).map(([character, type]) => [character.charCodeAt(0), type]),
);

const OTHER = 0;
const SPACE = 1;
const LETTER = 2;
const DIGIT = 3;
const PUNCTUATION = 4;
const QUOTE = 5;

/** The class of each ASCII character: the tokens that it may start. */
const CLASSES: Uint8Array = (() => {
  const classes = new Uint8Array(128);
  const set = (characters: string, value: number) => {
    for (const character of characters) classes[character.charCodeAt(0)] = value;
  };
  set("\t\n\f\r ", SPACE);
  set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", LETTER);
  set("0123456789", DIGIT);
  set("[]{}(),-?:+*/%", PUNCTUATION);
  set("'\"", QUOTE);
  return classes;
})();

const classOf = (unit: number): number => (unit < 128 ? CLASSES[unit]! : OTHER);

/** All tokens of a text. Never fails: text that is not a token is listed in `errors`. Linear in the length of the text. */
export function tokenize(text: string): Tokens {
  const types: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const errors: LexicalError[] = [];
  const { length } = text;
  let at = 0;
  while (at < length) {
    const unit = text.charCodeAt(at);
    const start = at;
    let type: number;
    switch (classOf(unit)) {
      case SPACE:
        at += 1;
        continue;
      case LETTER: {
        const literal = literalPrefix(unit) ? scanString(text, at) : undefined;
        if (literal?.found === true) {
          type = literal.bytes ? T.BYTES : T.STRING;
          at = literal.end;
        } else {
          at = identifierEnd(text, at);
          type = (at - start <= 5 ? KEYWORDS.get(text.slice(start, at)) : undefined) ?? T.IDENTIFIER;
        }
        break;
      }
      case DIGIT:
        at = numberEnd(text, at);
        type = numberType(text, start, at);
        break;
      case PUNCTUATION:
        if (unit === 0x2f && text.charCodeAt(at + 1) === 0x2f) {
          const end = text.indexOf("\n", at);
          at = end < 0 ? length : end;
          continue;
        }
        type = SINGLE.get(unit)!;
        at += 1;
        break;
      case QUOTE: {
        const literal = scanString(text, at);
        at = literal.end;
        if (!literal.found) {
          errors.push({ start, end: at, tokensBefore: types.length });
          continue;
        }
        type = T.STRING;
        break;
      }
      default: {
        const operator = scanOperator(text, at);
        at = operator.end;
        if (operator.type === OTHER) {
          errors.push({ start, end: at, tokensBefore: types.length });
          continue;
        }
        type = operator.type;
      }
    }
    types.push(type);
    starts.push(start);
    ends.push(at);
  }
  types.push(T.EOF);
  starts.push(length);
  ends.push(length);
  return { types, starts, ends, errors };
}

/** Whether a letter may be the prefix of a string or bytes literal. */
function literalPrefix(unit: number): boolean {
  return unit === 0x62 || unit === 0x42 || unit === 0x72 || unit === 0x52;
}

function identifierEnd(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const kind = classOf(text.charCodeAt(at));
    if (kind !== LETTER && kind !== DIGIT) return at;
    at += 1;
  }
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  while (classOf(text.charCodeAt(at)) === DIGIT) at += 1;
  return at;
}

/** The end of the exponent at `start`, or `start` when there is none. */
function exponentEnd(text: string, start: number): number {
  const letter = text.charCodeAt(start);
  if (letter !== 0x65 && letter !== 0x45) return start;
  const sign = text.charCodeAt(start + 1);
  const digits = sign === 0x2b || sign === 0x2d ? start + 2 : start + 1;
  const end = digitsEnd(text, digits);
  return end > digits ? end : start;
}

const isUnsignedMark = (unit: number): boolean => unit === 0x75 || unit === 0x55;

/** The end of the number at `start`, which is a digit. */
function numberEnd(text: string, start: number): number {
  if (text.charCodeAt(start) === 0x30 && text.charCodeAt(start + 1) === 0x78) {
    let at = start + 2;
    while (isHexDigit(text.charCodeAt(at))) at += 1;
    if (at > start + 2) return isUnsignedMark(text.charCodeAt(at)) ? at + 1 : at;
  }
  const whole = digitsEnd(text, start);
  if (text.charCodeAt(whole) === 0x2e) {
    const fraction = digitsEnd(text, whole + 1);
    if (fraction > whole + 1) return exponentEnd(text, fraction);
  }
  const exponent = exponentEnd(text, whole);
  if (exponent > whole) return exponent;
  return isUnsignedMark(text.charCodeAt(whole)) ? whole + 1 : whole;
}

/** The kind of the number that `numberEnd` delimited. */
function numberType(text: string, start: number, end: number): number {
  if (isUnsignedMark(text.charCodeAt(end - 1))) return T.UINT;
  if (text.charCodeAt(start + 1) === 0x78) return T.INT;
  for (let at = start; at < end; at += 1) {
    if (classOf(text.charCodeAt(at)) !== DIGIT) return T.FLOAT;
  }
  return T.INT;
}

function isHexDigit(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x61 && unit <= 0x66) || (unit >= 0x41 && unit <= 0x46);
}

/** Operators of more than one character, a dot (or the number it starts) and a quoted name. `type` 0: not a token, skipped through `end`. */
function scanOperator(text: string, start: number): { readonly type: number; readonly end: number } {
  const next = text.charCodeAt(start + 1);
  const followed = (unit: number) => next === unit;
  switch (text[start]) {
    case ".": {
      const digits = digitsEnd(text, start + 1);
      if (digits === start + 1) return { type: T.DOT, end: digits };
      return { type: T.FLOAT, end: exponentEnd(text, digits) };
    }
    case "!":
      return followed(0x3d) ? { type: T.NOT_EQUALS, end: start + 2 } : { type: T.NOT, end: start + 1 };
    case "<":
      return followed(0x3d) ? { type: T.LESS_EQUALS, end: start + 2 } : { type: T.LESS, end: start + 1 };
    case ">":
      return followed(0x3d) ? { type: T.GREATER_EQUALS, end: start + 2 } : { type: T.GREATER, end: start + 1 };
    case "=":
      return followed(0x3d) ? { type: T.EQUALS, end: start + 2 } : failAt(text, start + 1);
    case "&":
      return followed(0x26) ? { type: T.AND, end: start + 2 } : failAt(text, start + 1);
    case "|":
      return followed(0x7c) ? { type: T.OR, end: start + 2 } : failAt(text, start + 1);
    case "`": {
      let at = start + 1;
      while (isQuotedNameCharacter(text.charCodeAt(at))) at += 1;
      if (at === start + 1 || text.charCodeAt(at) !== 0x60) return failAt(text, at);
      return { type: T.ESCAPED_IDENTIFIER, end: at + 1 };
    }
    default:
      return failAt(text, start);
  }
}

function isQuotedNameCharacter(unit: number): boolean {
  const kind = classOf(unit);
  return kind === LETTER || kind === DIGIT || unit === 0x2e || unit === 0x2d || unit === 0x2f || unit === 0x20;
}

/** The result for text that is not a token: the character at `at` broke the match. */
function failAt(text: string, at: number): { readonly type: number; readonly end: number } {
  return { type: OTHER, end: characterEnd(text, at) };
}
