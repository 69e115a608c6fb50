import { yamlErrorAt } from "./yaml-error.js";

/** A part of a text: UTF-16 offsets. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
}

const SEPARATOR = "---";
/** Go's white space. */
const SPACE = "[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
/** The allowed text behind a separator: space, and a comment. */
const NOTHING = new RegExp(`^${SPACE}*(?:#|$)`, "u");
const LEADING_SPACE = new RegExp(`${SPACE}*`, "uy");

/** The end of the white space that begins at an offset. */
export function spaceEnd(text: string, from: number): number {
  LEADING_SPACE.lastIndex = from;
  LEADING_SPACE.test(text);
  return Math.max(LEADING_SPACE.lastIndex, from);
}

/** Whether a character is white space for Go. */
export function isSpace(character: string): boolean {
  return spaceEnd(character, 0) === character.length;
}

/**
 * Cuts a text into documents as Kubernetes does before it reads any YAML: at lines that begin with `---`, wherever those stand. A separator with
 * nothing before it stays with the next document.
 * @param from the beginning of the first document
 * @throws YamlError where there is other text behind a separator
 */
export function* chunks(text: string, from: number): Generator<Chunk> {
  let start = from;
  let line = from;
  for (;;) {
    const separator = text.startsWith(SEPARATOR, line) ? line : text.indexOf(`\n${SEPARATOR}`, line) + 1;
    if (separator === 0 && !text.startsWith(SEPARATOR, line)) break;
    const newline = text.indexOf("\n", separator);
    const lineEnd = newline === -1 ? text.length : newline;
    const behind = text.slice(separator + SEPARATOR.length, lineEnd);
    if (!NOTHING.test(behind)) {
      const reason =
        "behind --- at the beginning of a line comes nothing but a comment: put the document into the next line";
      throw yamlErrorAt(text, separator + SEPARATOR.length, reason);
    }
    line = Math.min(lineEnd + 1, text.length);
    if (separator === start) continue;
    yield { start, end: separator };
    start = line;
  }
  if (start < text.length) yield { start, end: text.length };
}
