/** How long values are as JSON that Go writes. */

/** Go writes these characters as `\u003c` and so on, too. */
const LONG_ESCAPES = /[<>&\u2028\u2029]/g;
const LONG_ESCAPE_BYTES = 6;

/** The text of a number: whole doubles have no fraction, as integers. */
export function numberText(value: unknown): string {
  const number = value instanceof Number ? value.valueOf() : value;
  return Object.is(number, -0) ? "-0" : String(number);
}

/** The bytes of a text in quotes. */
export function textBytes(text: string): number {
  let bytes = Buffer.byteLength(JSON.stringify(text));
  for (const [character] of text.matchAll(LONG_ESCAPES)) bytes += LONG_ESCAPE_BYTES - Buffer.byteLength(character);
  return bytes;
}

/** The bytes of a scalar. */
export function scalarBytes(value: unknown): number {
  if (typeof value === "string") return textBytes(value);
  if (value === null || typeof value === "boolean") return value === false ? 5 : 4;
  return numberText(value).length;
}
