/** Go's strconv.Quote and its relatives. */

const ESCAPES: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
};
const REPLACEMENT = 0xfffd;
const LAST_CHARACTER = 0x10ffff;

/** Characters that quoting leaves as they are: those of nearly every text, which need not be checked one by one. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text in double quotes as `%q` prints it. @param ascii whether everything else is escaped */
export function quote(text: string, ascii: boolean): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${Array.from(text, (character) => escaped(character, '"', ascii)).join("")}"`;
}

/** A character in single quotes; U+FFFD for an invalid number. */
export function quoteCharacter(code: bigint, ascii: boolean): string {
  return `'${escaped(characterOf(code), "'", ascii)}'`;
}

/** The character of a number; U+FFFD for a number that has none. */
export function characterOf(code: bigint): string {
  const valid = code >= 0n && code <= LAST_CHARACTER && (code < 0xd800n || code > 0xdfffn);
  return String.fromCodePoint(valid ? Number(code) : REPLACEMENT);
}

/** Whether Go shows the character as it is. */
export function isPrintable(character: string): boolean {
  return character === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

/** Whether the text may stand between backquotes. */
export function canBackquote(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a raw string may not have control characters
  return !/[\u0000-\u0008\u000a-\u001f\u007f`\ufeff]/.test(text);
}

function escaped(character: string, quotes: string, ascii: boolean): string {
  if (character === quotes) return `\\${character}`;
  const short = ESCAPES[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80 ? isPrintable(character) : !ascii && isPrintable(character)) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
