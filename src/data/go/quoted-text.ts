/** Text in double quotes as Go's `%q` prints it, in which error texts quote their input. */

/** Characters with an escape of one letter. */
export const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

/** Characters that are escaped: all but letters, marks, numbers, punctuation, symbols and the ASCII space; and quotes and backslashes. */
const ESCAPED = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu;
/** One of them. */
const IS_ESCAPED = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/u;

/**
 * Characters from which on a text is quoted unit by unit: a function call for each place holds the thread for a tenth of a second where there are some hundred
 * thousand.
 */
const LONG_TEXT = 4_096;

/** Whether a text has nothing to escape, and nothing beyond ASCII. */
export const isPlain = (text: string): boolean => /^[ !#-[\]-~]*$/.test(text);

/** The text in quotes, with escapes for quotes, backslashes and everything unprintable. */
export function quoted(text: string): string {
  if (isPlain(text)) return `"${text}"`;
  return text.length > LONG_TEXT ? new LongText(text).quoted() : `"${text.replace(ESCAPED, escapeOf)}"`;
}

function escapeOf(character: string): string {
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  const code = character.codePointAt(0) as number;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

const QUOTE = 0x22;
const CODE_POINTS = 0x110000;
/** Values in {@link escapes}: not known yet, printed as it is; above, the length of its escape. */
const UNKNOWN = 0;
const AS_IT_IS = 1;
/** The known values by code point; made when the first long text is quoted. Only the parts that are read take memory. */
let escapes: Uint8Array | undefined;

/** Number of units of a quoted code point, {@link AS_IT_IS} when it stays. */
function quotedLength(known: Uint8Array, code: number): number {
  const length = known[code] as number;
  if (length !== UNKNOWN) return length;
  const found = IS_ESCAPED.test(String.fromCodePoint(code)) ? escapeLength(code) : AS_IT_IS;
  known[code] = found;
  return found;
}

/** Number of units that {@link escapeOf} writes. */
function escapeLength(code: number): number {
  if (SHORT_LETTERS[code]) return 2;
  if (code < 0x20 || code === 0x7f) return 4;
  return code < 0x10000 ? 6 : 10;
}

/** Quotes a long text (disposable). */
class LongText {
  readonly #text: string;
  readonly #known: Uint8Array;

  constructor(text: string) {
    this.#text = text;
    escapes ??= new Uint8Array(CODE_POINTS);
    this.#known = escapes;
  }

  quoted(): string {
    const { length, isAscii } = this.#measured();
    if (length === this.#text.length + 2) return `"${this.#text}"`;
    const out = isAscii ? new Uint8Array(length) : new Uint16Array(length);
    this.#write(out);
    return Buffer.from(out.buffer).toString(isAscii ? "latin1" : "utf16le");
  }

  #measured(): { readonly length: number; readonly isAscii: boolean } {
    const text = this.#text;
    const known = this.#known;
    let length = 2;
    let isAscii = true;
    for (let index = 0; index < text.length; ) {
      const code = text.codePointAt(index) as number;
      const units = code < 0x10000 ? 1 : 2;
      index += units;
      const width = quotedLength(known, code);
      length += width === AS_IT_IS ? units : width;
      isAscii &&= code < 0x80 || width !== AS_IT_IS;
    }
    return { length, isAscii };
  }

  #write(out: Uint8Array | Uint16Array): void {
    const text = this.#text;
    const known = this.#known;
    let at = 0;
    out[at++] = QUOTE;
    for (let index = 0; index < text.length; ) {
      const code = text.codePointAt(index) as number;
      const units = code < 0x10000 ? 1 : 2;
      const width = quotedLength(known, code);
      if (width === AS_IT_IS) for (let unit = 0; unit < units; unit++) out[at++] = text.charCodeAt(index + unit);
      else {
        writeEscape(out, at, code, width);
        at += width;
      }
      index += units;
    }
    out[at] = QUOTE;
  }
}

const BACKSLASH = 0x5c;
/** The letters of one-letter escapes, by the code of their character. */
const SHORT_LETTERS = new Uint8Array(0x80);
for (const [character, text] of SHORT_ESCAPES) SHORT_LETTERS[character.charCodeAt(0)] = text.charCodeAt(1);
/** The letter before an escape's digits, by the escape's length: `x`, `u` and `U`. */
const LETTERS = new Uint8Array(11);
[LETTERS[4], LETTERS[6], LETTERS[10]] = [0x78, 0x75, 0x55];

function writeEscape(out: Uint8Array | Uint16Array, at: number, code: number, length: number): void {
  out[at] = BACKSLASH;
  if (length === 2) {
    out[at + 1] = SHORT_LETTERS[code] as number;
    return;
  }
  out[at + 1] = LETTERS[length] as number;
  let rest = code;
  for (let digit = at + length - 1; digit > at + 1; digit--) {
    const value = rest & 0xf;
    out[digit] = value < 10 ? 0x30 + value : 0x57 + value;
    rest >>= 4;
  }
}
