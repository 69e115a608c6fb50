/** The size of values as Go writes them in JSON. */
import { VALUE_WORK, type Work } from "./limits.js";
import { isObject } from "./node.js";

/** Characters that stand in JSON as they are, a byte each. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;

/** The text of a number: whole doubles have no fraction, as integers. */
export function numberText(value: unknown): string {
  const number = value instanceof Number ? value.valueOf() : value;
  return Object.is(number, -0) ? "-0" : String(number);
}

/** The bytes of a value. */
export function jsonBytes(value: unknown, work: Work): number {
  work.spend(VALUE_WORK);
  if (typeof value === "string") return textBytes(value, work);
  if (value === null || typeof value === "boolean") return value === false ? 5 : 4;
  // The brackets, and a comma between two.
  let bytes = 1;
  if (Array.isArray(value)) {
    for (const item of value) bytes += jsonBytes(item, work) + 1;
    return Math.max(bytes, 2);
  }
  if (!isObject(value)) return numberText(value).length;
  for (const key in value) bytes += textBytes(key, work) + jsonBytes(value[key], work) + 2;
  return Math.max(bytes, 2);
}

/** The bytes of a text in quotes. */
function textBytes(text: string, work: Work): number {
  work.spend(text.length);
  if (PLAIN.test(text)) return text.length + 2;
  work.spend(UNIT_WORK * text.length);
  let bytes = 2;
  for (let i = 0; i < text.length; i++) bytes += unitBytes(text.charCodeAt(i));
  return bytes;
}

/** Work for a character that is looked at by itself. */
const UNIT_WORK = 4;
/** Bytes of `\u003c`: control characters, and those that are special in HTML and JavaScript. */
const LONG_ESCAPE = 6;
/** Bytes of `
`. */
const SHORT_ESCAPE = 2;
const SHORT = new Set([...'\b\f\n\r\t"\\'].map((character) => character.charCodeAt(0)));
const LONG = new Set([..."<>&\u2028\u2029"].map((character) => character.charCodeAt(0)));

/** The bytes of half a surrogate pair: half of its four. */
function unitBytes(unit: number): number {
  if (SHORT.has(unit)) return SHORT_ESCAPE;
  if (unit < 0x20 || LONG.has(unit)) return LONG_ESCAPE;
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}
