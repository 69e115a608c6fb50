const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether a JSON text has more values than that, told by its commas and brackets, without reading it: values are what reading takes its time for,
 * and a text of brackets takes a hundred times as long as one of letters.
 */
export function hasMoreValues(text: string, limit: number): boolean {
  if (!mayHaveMoreValues(text.length, limit)) return false;
  let values = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = closingQuote(text, i + 1);
      if (i < 0) return false;
    } else if ((c === 0x2c || c === 0x5b || c === 0x7b) && ++values > limit) return true;
  }
  return false;
}

/** Whether a text of so many characters, or bytes, may have more values: one and what separates it from the next take two at least. */
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
