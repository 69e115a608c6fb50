/**
 * Texts of others (objects, policies, servers, files) for people: on a terminal, in a log, in a report. An author must not be able to erase, reorder
 * or imitate what stands beside such a text.
 */

/** Line ends and tabs: a text of others stays on its line. */
const SPACES = /[\t-\r\u0085\u2028\u2029]+/g;
/**
 * Characters that are not shown as they are: control characters, and those that change the direction of text, which a terminal would interpret; line ends other
 * than LF; characters without a width of their own and outside of all scripts, so that one name looks like another; halves of surrogate pairs, and noncharacters.
 */
const HARMFUL =
  "\\p{Cc}\\p{Bidi_Control}\\u2028\\u2029\\u00ad\\u180e\\u200b\\u2060-\\u2064\\ufeff\\ufff9-\\ufffb\\p{Cs}\\ufffe\\uffff";
const SOME = new RegExp(`[${HARMFUL}]`, "u");
const EACH = new RegExp(`[${HARMFUL}]`, "gu");
const EACH_BUT_LINES = new RegExp(`(?![\\n\\t])[${HARMFUL}]`, "gu");
/** JSON's escapes that are shorter than `\u000a`. */
const SHORT: Readonly<Record<string, string>> = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r" };

/** Whether a text can be shown as it is, in one line. */
export const isPrintable = (text: string): boolean => !SOME.test(text);

/**
 * A text of others for one line of a terminal or of a report: line ends become spaces, and harmful characters become escapes.
 */
export const printable = (text: string): string => escaped(text.replace(SPACES, " "));

/** The same for texts with lines and tabs of their own, which stay: there they cannot be confused with anything else. */
export const escapedLines = (text: string): string => text.replace(EACH_BUT_LINES, escapeOf);

/** {@link escapedLines} where lines could be confused, as of an error with the lines that it quotes: all but the first are indented, unless they are already. */
export function printableLines(text: string): string {
  const shown = escapedLines(text);
  return /\n\S/.test(shown) ? shown.replace(/\n(?=.)/g, "\n  ") : shown;
}

/**
 * A text with escapes for all harmful characters, line ends among them. They are those of JSON and YAML: a printed value stays the same,
 * because such characters only stand in its texts.
 */
export const escaped = (text: string): string => (SOME.test(text) ? text.replace(EACH, escapeOf) : text);

const escapeOf = (character: string): string =>
  SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
