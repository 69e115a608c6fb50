/**
 * Strings by code points: the unit of CEL's positions and sizes. A string without surrogates has one UTF-16 unit for each, so that JavaScript's
 * own methods serve; others are cut into characters first.
 */

const SURROGATE = /[\ud800-\udfff]/;

/**
 * Length above which a pattern finds out whether a text is flat: of a text with one byte for each character it knows that at once, in the time of a dozen
 * characters.
 */
const SHORT = 12;

/** Whether the text has no surrogates, so that every code point is one UTF-16 unit. */
export function isFlat(text: string): boolean {
  if (text.length > SHORT) return !SURROGATE.test(text);
  for (let index = 0; index < text.length; index++) if ((text.charCodeAt(index) & 0xf800) === 0xd800) return false;
  return true;
}

/** The number of code points. */
export function codePointLength(text: string): number {
  let length = text.length;
  if (length > SHORT && !SURROGATE.test(text)) return length;
  for (let index = 1; index < text.length; index++) {
    // A low surrogate behind a high one is the second half of one code point.
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) length--;
  }
  return length;
}

/**
 * The number of code points of a text made of several. The engine keeps the parts until the text is read; searching one character joins them
 * in half of the time that the pattern would take for that.
 */
export function codePointLengthOfSum(text: string): number {
  const { length } = text;
  // Never true; but a search whose result is not used would be optimised away.
  if (length > SHORT && text.indexOf(" ", length - 1) > length) return length;
  return codePointLength(text);
}

/** The code points as strings. */
export function codePointsOf(text: string): readonly string[] {
  if (isFlat(text)) return text.split("");
  if (text.length <= LONG) return Array.from(text);
  // Most of an iterator's time goes into making strings, and a text has few different ones.
  const known = new Map<number, string>();
  const characters: string[] = [];
  for (let index = 0; index < text.length; ) {
    const code = text.codePointAt(index) as number;
    let character = known.get(code);
    if (character === undefined) {
      character = String.fromCodePoint(code);
      known.set(code, character);
    }
    characters.push(character);
    index += code > 0xffff ? 2 : 1;
  }
  return characters;
}

/** Characters of a text from which on a loop is worth its code. */
const LONG = 4_096;

/** The UTF-16 index of the code point at `position`, which is at most the text's length in code points. */
export function unitIndex(text: string, position: number): number {
  if (isFlat(text)) return position;
  let index = 0;
  for (let passed = 0; passed < position; passed++) index += (text.codePointAt(index) as number) > 0xffff ? 2 : 1;
  return index;
}

/** The position in code points of a UTF-16 index. */
export const positionOf = (text: string, index: number): number => codePointLength(text.slice(0, index));
