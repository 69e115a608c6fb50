import { JsonError } from "./json-error.js";
import { setKey } from "./plain-object.js";

/** Deepest nesting accepted: real objects stay below 60, and recursive code must not exhaust the stack. */
export const JSON_MAX_DEPTH = 500;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LINE_END = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Digits up to which any integer is a safe one. */
const SAFE_DIGITS = 15;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Keys and indexes on the way from the root to a value. */
export type JsonPath = readonly (string | number)[];

/** The objects that must not have repeated keys. */
export interface UniqueKeys {
  /** Objects nested at most so deep; 1 is the document itself. */
  readonly depth: number;
  /** Exempts the object at a path. */
  readonly except?: (path: JsonPath) => boolean;
}

/**
 * The number model's value of a JSON number's text: see `json.ts`. Infinite if no double holds it, as for the API server's parser, which refuses it.
 */
export function numberOf(text: string): unknown {
  const value = Number(text);
  // Beyond this check an integer has at most 309 digits, so that reading it exactly costs little.
  if (!Number.isFinite(value)) return value;
  if (/[.eE]/.test(text)) return double(value);
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  const exact = BigInt(text);
  return exact >= INT64_MIN && exact <= INT64_MAX ? exact : double(value);
}

/** A double in the number model: boxed when it would look like an integer. */
export function double(value: number): unknown {
  return Number.isSafeInteger(value) ? Object(value) : value;
}

/** Reads JSON exactly, and reports the place of errors. One instance per text. */
export class ExactReader {
  readonly #text: string;
  readonly #numberOf: (text: string) => unknown;
  readonly #unique: UniqueKeys | undefined;
  #position = 0;
  /** Keys and indexes of the values being read; its length is the depth. */
  readonly #path: (string | number)[] = [];

  constructor(text: string, numberOf: (text: string) => unknown, unique?: UniqueKeys) {
    this.#text = text;
    this.#numberOf = numberOf;
    this.#unique = unique;
  }

  /** @throws JsonError */
  read(): unknown {
    const value = this.#value();
    this.#space();
    if (this.#position < this.#text.length) throw this.#error("trailing characters");
    return value;
  }

  #value(): unknown {
    this.#space();
    switch (this.#text.charCodeAt(this.#position)) {
      case OPEN_OBJECT:
        return this.#object();
      case OPEN_LIST:
        return this.#array();
      case QUOTE:
        return this.#string();
      case LETTER_T:
        return this.#word("true", true);
      case LETTER_F:
        return this.#word("false", false);
      case LETTER_N:
        return this.#word("null", null);
      default:
        if (this.#atEnd()) throw this.#error("EOF while parsing a value");
        return this.#number();
    }
  }

  #open(): void {
    if (this.#path.length >= JSON_MAX_DEPTH) throw this.#error("recursion limit exceeded");
    this.#position++;
    this.#path.push("");
  }

  #object(): Record<string, unknown> {
    this.#open();
    const object: Record<string, unknown> = {};
    let more = !this.#accept(CLOSE_OBJECT);
    while (more) {
      this.#space();
      if (this.#text.charCodeAt(this.#position) !== QUOTE) {
        throw this.#error(this.#atEnd() ? "EOF while parsing an object" : "key must be a string");
      }
      const key = this.#string();
      if (this.#unique !== undefined && Object.hasOwn(object, key)) this.#checkRepeated(key);
      if (!this.#accept(COLON)) throw this.#error(this.#atEnd() ? "EOF while parsing an object" : "expected `:`");
      this.#path[this.#path.length - 1] = key;
      setKey(object, key, this.#value());
      more = this.#goesOn(CLOSE_OBJECT, "EOF while parsing an object", "expected `,` or `}`");
    }
    this.#path.pop();
    return object;
  }

  #checkRepeated(key: string): void {
    if (this.#unique === undefined || this.#path.length > this.#unique.depth) return;
    const path = this.#path.slice(0, -1);
    if (this.#unique.except?.(path)) return;
    this.#path[this.#path.length - 1] = "";
    throw this.#error(`duplicate field \`${shorten(key)}\``);
  }

  #array(): unknown[] {
    this.#open();
    const array: unknown[] = [];
    let more = !this.#accept(CLOSE_LIST);
    while (more) {
      this.#path[this.#path.length - 1] = array.length;
      array.push(this.#value());
      more = this.#goesOn(CLOSE_LIST, "EOF while parsing a list", "expected `,` or `]`");
    }
    this.#path.pop();
    return array;
  }

  /** Whether another member follows. */
  #goesOn(close: number, ended: string, expected: string): boolean {
    if (this.#accept(close)) return false;
    if (!this.#accept(COMMA)) throw this.#error(this.#atEnd() ? ended : expected);
    this.#space();
    if (this.#text.charCodeAt(this.#position) === close) throw this.#error("trailing comma");
    return true;
  }

  #string(): string {
    const text = this.#text;
    let from = this.#position + 1;
    let at = from;
    let result = "";
    for (;;) {
      const c = text.charCodeAt(at);
      if (c === QUOTE) break;
      if (c !== BACKSLASH && c >= SPACE) {
        at++;
        continue;
      }
      this.#position = at;
      if (c !== BACKSLASH)
        throw this.#error(
          this.#atEnd()
            ? "EOF while parsing a string"
            : "control character (\\u0000-\\u001F) found while parsing a string",
        );
      result += text.slice(from, at) + this.#escape();
      from = this.#position;
      at = from;
    }
    this.#position = at + 1;
    return (result + text.slice(from, at)).toWellFormed();
  }

  #escape(): string {
    const c = this.#text[this.#position + 1];
    if (c === "u") {
      const digits = this.#text.slice(this.#position + 2, this.#position + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#error("invalid escape");
      this.#position += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const plain = c === undefined ? undefined : ESCAPES[c];
    if (plain === undefined) throw this.#error(c === undefined ? "EOF while parsing a string" : "invalid escape");
    this.#position += 2;
    return plain;
  }

  #number(): unknown {
    return this.#shortInteger() ?? this.#anyNumber();
  }

  /** The value of an integer that is safe by its length alone, as most are; undefined of any other, and of zero with a sign. */
  #shortInteger(): number | undefined {
    const text = this.#text;
    const isNegative = text.charCodeAt(this.#position) === MINUS;
    const first = this.#position + (isNegative ? 1 : 0);
    let at = first;
    let value = 0;
    let c = text.charCodeAt(at);
    for (; c >= ZERO && c <= NINE && at < first + SAFE_DIGITS; c = text.charCodeAt(++at)) value = 10 * value + c - ZERO;
    const isWhole = c === COMMA || c === CLOSE_LIST || c === CLOSE_OBJECT || c === SPACE || c === LINE_END;
    const isOne = at === first + 1 || text.charCodeAt(first) !== ZERO;
    if (!isWhole || !isOne || at === first || (isNegative && value === 0)) return undefined;
    this.#position = at;
    return isNegative ? -value : value;
  }

  #anyNumber(): unknown {
    NUMBER.lastIndex = this.#position;
    const match = NUMBER.exec(this.#text);
    if (match === null) {
      throw this.#error(this.#text[this.#position] === "-" ? "invalid number" : "expected value");
    }
    this.#position = NUMBER.lastIndex;
    if (/[0-9.eE+-]/.test(this.#text[this.#position] ?? "")) throw this.#error("invalid number");
    const value = this.#numberOf(match[0]);
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
      throw this.#error("number out of range");
    return value;
  }

  #word<T>(word: string, value: T): T {
    for (const letter of word) {
      const found = this.#text[this.#position];
      if (found === undefined) throw this.#error("EOF while parsing a value");
      if (found !== letter) throw this.#error("expected ident");
      this.#position++;
    }
    return value;
  }

  /** Skips white space and, if it comes next, the character. */
  #accept(code: number): boolean {
    this.#space();
    if (this.#text.charCodeAt(this.#position) !== code) return false;
    this.#position++;
    return true;
  }

  #space(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#position);
      if (c > SPACE || (c !== SPACE && c !== 0x0a && c !== 0x0d && c !== 0x09)) return;
      this.#position++;
    }
  }

  #atEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  #error(reason: string): JsonError {
    const before = this.#text.slice(0, this.#position);
    const line = before.split("\n").length;
    // The end of the text has no character of its own: its column is that of the last one.
    const column = before.length - (before.lastIndexOf("\n") + 1) + (this.#atEnd() ? 0 : 1);
    return new JsonError(reason, line, column, [...this.#path]);
  }
}

/** Characters of a key in an error: keys of any length come from outside. */
const SHOWN = 64;

function shorten(key: string): string {
  return key.length <= SHOWN ? key : `${key.slice(0, SHOWN)}…`;
}
