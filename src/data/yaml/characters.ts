/** The kinds of characters that YAML 1.1 distinguishes, by UTF-16 code unit. All of them are single units. */

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
/** The code of a {@link Cursor} at the end of its text. */
export const END = 0;

/** Next line, line separator and paragraph separator: breaks of YAML 1.1 that editors do not have. */
const NEL = 0x85;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;

/** Characters that no document may contain, not even in comments; they are written as `\x00` and the like. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
export const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/g;

export function isBreak(c: number): boolean {
  return c === LF || c === CR || c === NEL || c === LINE_SEPARATOR || c === PARAGRAPH_SEPARATOR;
}

export function isBlank(c: number): boolean {
  return c === SPACE || c === TAB;
}

/** Whether a word ends here: a blank, a break, or the end of the text. */
export function isGap(c: number): boolean {
  return c <= SPACE ? c === SPACE || c === LF || c === END || c === TAB || c === CR : c >= NEL && isBreak(c);
}

/** Whether a line ends here: a break, or the end of the text. */
export function endsLine(c: number): boolean {
  return c <= CR ? c === LF || c === END || c === CR : c >= NEL && isBreak(c);
}

/** Letters of names of anchors, tags' handles and directives. */
export function isNameCharacter(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x5a) || c === 0x5f || c === 0x2d;
}

export function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

/** The value of a hexadecimal digit, -1 for any other character. */
export function hexDigit(c: number): number {
  if (isDigit(c)) return c - 0x30;
  const lower = c | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The UTF-16 offset so many characters (code points) behind another. */
export function offsetBehind(text: string, from: number, characters: number): number {
  let at = from;
  for (let i = 0; i < characters; i++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
