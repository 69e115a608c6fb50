/** Finds the end of string and bytes literals (spec kubernetes-cel.md 1.3). */

/** A literal, or the place where the match broke off. */
export interface StringToken {
  readonly found: boolean;
  /** After the literal; if none was found, after the character that broke the match. */
  readonly end: number;
  readonly bytes: boolean;
}

const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Escapes of one letter: a b f n r t v " ' \ ? ` */
const SIMPLE_ESCAPES: ReadonlySet<string> = new Set("abfnrtv\"'\\?`");

/** Hexadecimal digits that must follow an escape letter. */
const HEX_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["X", 2],
  ["u", 4],
  ["U", 8],
]);

/**
 * The literal at `start`: a quote or one of the prefixes `b`, `r`, `br` in any case. `found` is false where a prefix letter turns out to
 * start a name, and where the literal is broken or not closed.
 */
export function scanString(text: string, start: number): StringToken {
  let at = start;
  const bytes = isLetter(text[at], "b");
  if (bytes) at += 1;
  const raw = isLetter(text[at], "r");
  if (raw) at += 1;
  const quote = text.charCodeAt(at);
  if (quote !== 0x27 && quote !== 0x22) return { found: false, end: at, bytes };
  const single = scanSingle(text, at + 1, quote, raw);
  const triple =
    text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote
      ? scanTriple(text, at + 3, quote, raw)
      : undefined;
  if (triple?.found === true) return { found: true, end: triple.end, bytes };
  return { found: single.found, end: single.end, bytes };
}

function isLetter(character: string | undefined, lower: string): boolean {
  return character === lower || character === lower.toUpperCase();
}

interface Scan {
  readonly found: boolean;
  readonly end: number;
}

/** The rest of a literal in single quotes of either kind. */
function scanSingle(text: string, start: number, quote: number, raw: boolean): Scan {
  let at = start;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return { found: true, end: at + 1 };
    if (unit === LINE_FEED || unit === CARRIAGE_RETURN) return { found: false, end: at + 1 };
    if (unit === BACKSLASH && !raw) {
      const sequence = scanEscape(text, at);
      if (!sequence.found) return sequence;
      at = sequence.end;
    } else {
      at += 1;
    }
  }
  return { found: false, end: text.length };
}

/** The rest of a literal in triple quotes: up to the first closing triple. */
function scanTriple(text: string, start: number, quote: number, raw: boolean): Scan {
  let at = start;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === quote && text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote) {
      return { found: true, end: at + 3 };
    }
    if (unit === BACKSLASH && !raw) {
      const sequence = scanEscape(text, at);
      if (!sequence.found) return sequence;
      at = sequence.end;
    } else {
      at += 1;
    }
  }
  return { found: false, end: text.length };
}

/** The escape sequence at a backslash; if it is invalid, `end` is after the character that broke it. */
function scanEscape(text: string, start: number): Scan {
  const letter = text[start + 1];
  if (letter === undefined) return { found: false, end: text.length };
  if (SIMPLE_ESCAPES.has(letter)) return { found: true, end: start + 2 };
  const hexDigits = HEX_ESCAPES.get(letter);
  if (hexDigits !== undefined) return scanDigits(text, start + 2, hexDigits, /[0-9a-fA-F]/);
  if (letter >= "0" && letter <= "3") return scanDigits(text, start + 2, 2, /[0-7]/);
  return { found: false, end: characterEnd(text, start + 1) };
}

function scanDigits(text: string, start: number, count: number, digit: RegExp): Scan {
  for (let at = start; at < start + count; at += 1) {
    const character = text[at];
    if (character === undefined || !digit.test(character)) return { found: false, end: characterEnd(text, at) };
  }
  return { found: true, end: start + count };
}

/** The index after the character at `at` (a surrogate pair is one); the end of the text stays the end. */
export function characterEnd(text: string, at: number): number {
  const point = text.codePointAt(at);
  if (point === undefined) return text.length;
  return at + (point > 0xffff ? 2 : 1);
}
