const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The limits of a JSON text. */
export interface JsonBounds {
  readonly values: number;
  /**
   * Most members of one object: listing the names of a hundred thousand takes twenty times as long as of ten thousand, and copying them longer still. Default:
   * no limit of their own.
   */
  readonly members?: number;
}

/** The exceeded limit of a JSON text. */
export type TooMany = keyof JsonBounds;

/**
 * The exceeded limit of a JSON text, found by its commas and brackets, without reading it: the time for reading depends on the number of values, and a text of
 * brackets takes a hundred times as long as one of letters.
 */
export function tooManyIn(text: string, { values, members = values }: JsonBounds): TooMany | undefined {
  if (!mayHaveMoreValues(text.length, Math.min(values, members))) return undefined;
  // By depth: the commas of an object; those of a list do not count.
  const commas: number[] = [];
  let found = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = closingQuote(text, i + 1);
      if (i < 0) return undefined;
    } else if (c === COMMA) {
      if (++found > values) return "values";
      const last = commas.length - 1;
      const here = (commas[last] ?? Number.NEGATIVE_INFINITY) + 1;
      if (here >= members) return "members";
      if (last >= 0) commas[last] = here;
    } else if (c === OPEN_LIST || c === OPEN_OBJECT) {
      if (++found > values) return "values";
      commas.push(c === OPEN_OBJECT ? 0 : Number.NEGATIVE_INFINITY);
    } else if (c === CLOSE_LIST || c === CLOSE_OBJECT) commas.pop();
  }
  return undefined;
}

/** Whether a JSON text has more values than that. */
export const hasMoreValues = (text: string, limit: number): boolean => tooManyIn(text, { values: limit }) !== undefined;

/** Whether a text of so many characters, or bytes, may have more values: a value and its separator take two at least. */
export const mayHaveMoreValues = (length: number, limit: number): boolean => length > 2 * limit;

/** The index of the quote that ends the string whose content starts at `from`; -1 when there is none. */
export function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}
