/** Bytes as protobuf's text format writes them, in which Go prints messages. */

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0d, "\\r"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
]);
const DELETE = 0x7f;
/** The last of the control characters behind ASCII. */
const LAST_CONTROL = 0x9f;

/** Most bytes that are printed: an error text should not contain a whole object. */
const MAX_BYTES = 10_000;

/** The bytes in quotes: UTF-8 as it is, except control characters; other bytes as `\\xff`. */
export function textFormat(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < Math.min(bytes.length, MAX_BYTES); ) {
    const code = codePointAt(bytes, at);
    text += code < 0 ? escaped(bytes[at] ?? 0) : character(code);
    at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return `"${text}"`;
}

function character(code: number): string {
  if (code < 0x20 || code === DELETE || code === 0x22 || code === 0x5c) return escaped(code);
  return code > DELETE && code <= LAST_CONTROL ? `\\u${hex(code, 4)}` : String.fromCodePoint(code);
}

const escaped = (code: number): string => SHORT_ESCAPES.get(code) ?? `\\x${hex(code, 2)}`;

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/** The code point whose UTF-8 begins there; -1 when there is none. Read by hand: a decoder's exception for every byte would take seconds. */
function codePointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first;
  const more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  let code = first & (0x3f >> more);
  for (let index = 1; index <= more; index++) {
    const next = bytes[at + index] ?? 0;
    if (next >> 6 !== 2) return -1;
    code = code * 64 + (next & 0x3f);
  }
  // Not valid: other lead bytes, longer forms than needed, halves of surrogate pairs, and numbers beyond Unicode.
  const least = more === 1 ? 0x80 : more === 2 ? 0x800 : 0x10000;
  const surrogate = code >= 0xd800 && code <= 0xdfff;
  return first < 0xc2 || first > 0xf4 || code < least || code > 0x10ffff || surrogate ? -1 : code;
}
