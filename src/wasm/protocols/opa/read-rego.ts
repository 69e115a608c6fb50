/** Parses values in the notation of modules for their host. */

import { parseJson } from "../../../data/json.js";
import { JsonError } from "../../../data/json-error.js";
import { JSON_MAX_DEPTH } from "../../../data/json-reader.js";
import { setKey } from "../../../data/plain-object.js";
import { RegoObject, RegoSet, WrittenNumber } from "./rego-value.js";

/**
 * Parses a value: JSON, or with sets (`{1, 2}`, `set()`) and keys of any kind in it.
 * @throws an error with the reason
 */
export function readRego(text: string): unknown {
  try {
    return readRegoJson(text);
  } catch (error) {
    // Few values are more than JSON.
    if (!(error instanceof JsonError)) throw error;
    return new Reader(text).whole();
  }
}

/** Reads a value that is JSON. @throws JsonError */
export const readRegoJson = (text: string): unknown => parseJson(text, { number: numberOf });

/** Most digits of an integer: no meaningful one has more, and parsing a million takes a second. */
const MOST_DIGITS = 4096;

function numberOf(text: string): unknown {
  if (/[.eE]/.test(text)) return new WrittenNumber(text);
  if (text.length > MOST_DIGITS) throw new Error(`an integer has more than ${MOST_DIGITS} digits`);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

const WORDS: ReadonlyMap<string, () => unknown> = new Map<string, () => unknown>([
  ["null", () => null],
  ["true", () => true],
  ["false", () => false],
  ["set()", () => new RegoSet([])],
]);

/** A parser of one text. */
class Reader {
  readonly #word = /null|true|false|set\(\)/y;
  readonly #number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  readonly #blank = /[ \t\r\n]*/y;
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  #value(): unknown {
    this.#blanks();
    if (++this.#depth > JSON_MAX_DEPTH) throw new Error("a value is nested too deeply");
    const value = this.#one();
    this.#depth--;
    this.#blanks();
    return value;
  }

  #one(): unknown {
    switch (this.#text[this.#at]) {
      case '"':
        return this.#string();
      case "[":
        return this.#list();
      case "{":
        return this.#braces();
    }
    const word = this.#token(this.#word);
    if (word !== undefined) return WORDS.get(word)?.();
    const number = this.#token(this.#number);
    if (number === undefined) throw this.#unexpected();
    return numberOf(number);
  }

  #string(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end < 0) throw this.#unexpected();
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    return parseJson(this.#text.slice(start, this.#at)) as string;
  }

  /** Whether an odd number of backslashes precedes a place. */
  #isEscaped(place: number): boolean {
    let at = place;
    while (this.#text[at - 1] === "\\") at--;
    return (place - at) % 2 === 1;
  }

  #list(): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    this.#blanks();
    if (this.#accept("]")) return items;
    do items.push(this.#value());
    while (this.#accept(","));
    this.#expect("]");
    return items;
  }

  /** An object or a set: the character behind the first value decides. */
  #braces(): unknown {
    this.#at++;
    this.#blanks();
    if (this.#accept("}")) return {};
    const first = this.#value();
    if (!this.#accept(":")) {
      const items = [first];
      while (this.#accept(",")) items.push(this.#value());
      this.#expect("}");
      return new RegoSet(items);
    }
    const entries: [unknown, unknown][] = [[first, this.#value()]];
    while (this.#accept(",")) {
      const key = this.#value();
      this.#expect(":");
      entries.push([key, this.#value()]);
    }
    this.#expect("}");
    return entries.every(([key]) => typeof key === "string") ? plainObject(entries) : new RegoObject(entries);
  }

  #token(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #blanks(): void {
    this.#token(this.#blank);
  }

  #accept(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#accept(character)) throw this.#unexpected();
  }

  #unexpected(): Error {
    return new Error(`the module passes a value that can't be read, at character ${this.#at + 1}`);
  }
}

function plainObject(entries: readonly (readonly [unknown, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, value] of entries) setKey(object, key as string, value);
  return object;
}
