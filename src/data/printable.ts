/** Ends of lines and tabs: a text of others stays in its line. */
const SPACES = /[\t-\r\u0085\u2028\u2029]+/g;
/** Control characters, and those that change the direction of what follows: a terminal would obey them. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * A text of others for one line of a terminal or of a report: ends of lines are spaces, and what is not to be shown as it is stands there as an escape.
 */
export const printable = (text: string): string =>
  text
    .replace(SPACES, " ")
    .replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
