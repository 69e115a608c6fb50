/** The error of Go's decoder for a text that is not JSON; used only once it is known not to be. */

import { closingQuote } from "../json-values.js";
import { quoteCharacter } from "./quote.js";

/** Deepest nesting that Go's decoder accepts. */
const GO_MAX_DEPTH = 10_000;

const IN_STRING = "in string literal";
const END = "unexpected end of JSON input";
const SPACE = /[ \t\r\n]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids control characters here
const STRING_RUN = /[^"\\\u0000-\u001f]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const CONTROL = /[\u0000-\u001f]/;
const ESCAPES = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/g;
const DIGITS = /[0-9]*/y;

/** The expected next token. */
type Expected = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma";

/**
 * The error of Go's `json.Unmarshal` for a text: `invalid character 'x' looking for beginning of value`; `undefined` when there is none in its
 * syntax.
 */
export function goJsonError(text: string): string | undefined {
  const reader = new Scanner(text);
  try {
    reader.document();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

class Problem extends Error {}

class Scanner {
  readonly #text: string;
  #at = 0;
  /** The closing brackets of open containers. */
  readonly #open: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    let expected: Expected | undefined = "value";
    while (expected !== undefined) expected = this.#next(expected);
    this.#skip(SPACE);
    if (this.#at < this.#text.length) throw this.#invalid("after top-level value");
  }

  /** Reads one token, and answers what must follow; `undefined` when the value is complete. */
  #next(expected: Expected): Expected | undefined {
    this.#skip(SPACE);
    const character = this.#text[this.#at];
    if (character === undefined) throw new Problem(END);
    switch (expected) {
      case "colon":
        if (character !== ":") throw this.#invalid("after object key");
        this.#at++;
        return "value";
      case "comma":
        return this.#afterValue(character);
      case "key":
      case "key or }":
        if (character === "}" && expected === "key or }") return this.#close();
        if (character !== '"') throw this.#invalid("looking for beginning of object key string");
        this.#string();
        return "colon";
      default:
        if (character === "]" && expected === "value or ]") return this.#close();
        return this.#value(character);
    }
  }

  #afterValue(character: string): Expected | undefined {
    const closing = this.#open.at(-1);
    if (character === closing) return this.#close();
    const inObject = closing === "}";
    if (character !== ",") throw this.#invalid(inObject ? "after object key:value pair" : "after array element");
    this.#at++;
    return inObject ? "key" : "value";
  }

  #close(): Expected | undefined {
    this.#at++;
    this.#open.pop();
    return this.#afterwards();
  }

  #afterwards(): Expected | undefined {
    return this.#open.length === 0 ? undefined : "comma";
  }

  #value(character: string): Expected | undefined {
    switch (character) {
      case "{":
      case "[":
        this.#at++;
        this.#open.push(character === "{" ? "}" : "]");
        if (this.#open.length > GO_MAX_DEPTH) throw new Problem("exceeded max depth");
        return character === "{" ? "key or }" : "value or ]";
      case '"':
        this.#string();
        break;
      case "t":
        this.#word("true");
        break;
      case "f":
        this.#word("false");
        break;
      case "n":
        this.#word("null");
        break;
      default:
        if (!/[-0-9]/.test(character)) throw this.#invalid("looking for beginning of value");
        this.#number();
    }
    return this.#afterwards();
  }

  #word(word: string): void {
    for (let i = 1; i < word.length; i++) {
      this.#at++;
      if (this.#text[this.#at] !== word[i]) throw this.#invalid(`in literal ${word} (expecting '${word[i]}')`);
    }
    this.#at++;
  }

  #string(): void {
    const end = closingQuote(this.#text, this.#at + 1);
    const content = this.#text.slice(this.#at + 1, end === -1 ? undefined : end);
    // A text may be long, and its escapes many: as long as all are valid none is checked by itself.
    if (!CONTROL.test(content) && !content.replace(ESCAPES, "").includes("\\")) {
      if (end === -1) throw new Problem(END);
      this.#at = end + 1;
    } else this.#brokenString();
  }

  #brokenString(): void {
    for (this.#at++; ; ) {
      this.#skip(STRING_RUN);
      const character = this.#text[this.#at];
      if (character === '"') break;
      if (character !== "\\") throw this.#invalid(IN_STRING);
      this.#at++;
      const code = this.#text[this.#at];
      if (code === undefined || !'bfnrt\\/"u'.includes(code)) throw this.#invalid("in string escape code");
      this.#at++;
      for (let digits = 0; code === "u" && digits < 4; digits++, this.#at++) {
        if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? "")) {
          throw this.#invalid("in \\u hexadecimal character escape");
        }
      }
    }
    this.#at++;
  }

  #number(): void {
    if (this.#text[this.#at] === "-") this.#at++;
    if (this.#text[this.#at] === "0") this.#at++;
    else this.#digits("in numeric literal");
    if (this.#text[this.#at] === ".") {
      this.#at++;
      this.#digits("after decimal point in numeric literal");
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at++;
      if (/[+-]/.test(this.#text[this.#at] ?? "")) this.#at++;
      this.#digits("in exponent of numeric literal");
    }
  }

  #digits(place: string): void {
    const from = this.#at;
    this.#skip(DIGITS);
    if (this.#at === from) throw this.#invalid(place);
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    pattern.exec(this.#text);
    this.#at = pattern.lastIndex;
  }

  /** The error of an invalid character: Go names only its first octet, and reads a blank at the end, which only strings accept. */
  #invalid(place: string): Problem {
    if (this.#at >= this.#text.length) return new Problem(place === IN_STRING ? END : `invalid character ' ' ${place}`);
    const octet = Buffer.from(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0))[0] ?? 0;
    return new Problem(`invalid character ${characterText(octet)} ${place}`);
  }
}

function characterText(octet: number): string {
  return String.fromCharCode(octet) === '"' ? `'"'` : quoteCharacter(BigInt(octet), false);
}
