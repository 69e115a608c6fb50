/** Control characters, and those that change the direction of what follows: a terminal would obey them. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/** A text of others for a terminal or a line of a report: what is not to be shown as it is stands there as an escape. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
