import { isPrintable } from "../../data/go/quote.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const SUSPICIOUS = /[\u0000-\u0007\u000b\u000e-\u001f\u007f\u{10000}-\u{10ffff}]/gu;

/** Nearly all texts. */
const PLAIN = /^[ -~]*$/;

/**
 * The server quotes `op`, `path` and `from` as Go does and reads them as JSON, which has not all of Go's escapes: the error of reading, or `undefined`
 * where the text comes back as it was.
 */
export function quotedTextError(text: string): string | undefined {
  if (PLAIN.test(text)) return undefined;
  for (const [character] of text.matchAll(SUSPICIOUS)) {
    const letter = escapeOf(character);
    if (letter !== undefined) return `invalid character '${letter}' in string escape code`;
  }
  return undefined;
}

function escapeOf(character: string): string | undefined {
  if (character === "\u0007") return "a";
  if (character === "\u000b") return "v";
  if (character.length === 1) return "x";
  return isPrintable(character) ? undefined : "U";
}
