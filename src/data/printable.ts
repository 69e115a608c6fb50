/**
 * Texts of others (objects, policies, servers, files) where people read them: on a terminal, in a log, in a report. An author must not be able to erase, reorder
 * or imitate what stands beside such a text.
 */

/** Ends of lines and tabs: a text of others stays in its line. */
const SPACES = /[\t-\r\u0085\u2028\u2029]+/g;
/**
 * What is not to be shown as it is: control characters, and those that change the direction of what follows, which a terminal would obey; other ends of lines
 * than LF; what has no width of its own and no part in any script, so that one name looks like another; halves of characters, and what is none.
 */
const HARMFUL =
  "\\p{Cc}\\p{Bidi_Control}\\u2028\\u2029\\u00ad\\u180e\\u200b\\u2060-\\u2064\\ufeff\\ufff9-\\ufffb\\p{Cs}\\ufffe\\uffff";
const SOME = new RegExp(`[${HARMFUL}]`, "u");
const EACH = new RegExp(`[${HARMFUL}]`, "gu");
const EACH_BUT_LINES = new RegExp(`(?![\\n\\t])[${HARMFUL}]`, "gu");
/** Those of JSON that are shorter than `\u000a`. */
const SHORT: Readonly<Record<string, string>> = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r" };

/** Whether a text can be shown as it is, in one line. */
export const isPrintable = (text: string): boolean => !SOME.test(text);

/**
 * A text of others for one line of a terminal or of a report: ends of lines are spaces, and what is not to be shown as it is stands there as an escape.
 */
export const printable = (text: string): string => escaped(text.replace(SPACES, " "));

/** The same for what has lines and tabs of its own, which stay: where they stand can be taken for nothing else. */
export const escapedLines = (text: string): string => text.replace(EACH_BUT_LINES, escapeOf);

/** {@link escapedLines} where they could be, as of an error with the lines that it quotes: all but the first are indented, unless they are already. */
export function printableLines(text: string): string {
  const shown = escapedLines(text);
  return /\n\S/.test(shown) ? shown.replace(/\n(?=.)/g, "\n  ") : shown;
}

/**
 * A text with escapes for all that is not to be shown as it is, ends of lines among them. They are those of JSON and YAML: what is printed in either stays what
 * it is, as nothing of the kind stands outside of its texts.
 */
export const escaped = (text: string): string => (SOME.test(text) ? text.replace(EACH, escapeOf) : text);

const escapeOf = (character: string): string =>
  SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
