/** Text in double quotes as Go's `%q` prints it: error texts quote their input so. */

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

/** What is not printed as it is: all but letters, marks, numbers, punctuation, symbols and the ASCII space; and quotes and backslashes. */
const ESCAPED = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu;

/** Whether a text has nothing to escape, and nothing beyond ASCII. */
export const isPlain = (text: string): boolean => /^[ !#-[\]-~]*$/.test(text);

/** The text in quotes, with escapes for quotes, backslashes and everything unprintable. */
export function quoted(text: string): string {
  if (isPlain(text)) return `"${text}"`;
  return `"${text.replace(ESCAPED, escaped)}"`;
}

function escaped(character: string): string {
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  const code = character.codePointAt(0) as number;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
