/** Values as text for people: CEL's own notation, in one line, and of a readable length. */

import { CelError, entriesOf, kindOf, type ObjectValue, type Result, type Value } from "../../cel/index.js";
import { printable } from "../../data/printable.js";
import { encodeValue } from "../shared/encode-value.js";

/** Length at which values and sources are cut: some hundreds of characters can be read, an object of a request cannot. */
export const MAX_TEXT_LENGTH = 300;

/** A text, cut if it is longer than that. */
export const cutTo = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;

/** A text in one line, cut. */
export const lineOf = (text: string): string => printable(cutTo(text, MAX_TEXT_LENGTH));

/**
 * A value in CEL's own notation, or the error, cut to one line.
 * @param most characters
 */
export function valueText(value: Result, most = MAX_TEXT_LENGTH): string {
  const text = value instanceof CelError ? `error: ${value.message}` : literal(value, most);
  return printable(cutTo(text, most));
}

/** @param depth levels above: each level takes a character at least, so that deeper ones are not shown */
function literal(value: Value, most: number, depth = 0): string {
  if (depth > most) return "";
  const inner = (item: Value): string => literal(item, most, depth + 1);
  switch (kindOf(value)) {
    case "null":
      return "null";
    case "string":
      return JSON.stringify((value as string).slice(0, most + 1));
    case "bytes":
      return bytesText(value as Uint8Array, most);
    case "double":
      return decimal(encoded(value));
    case "duration":
    case "timestamp":
      return `${kindOf(value)}("${encoded(value)}")`;
    case "uint":
      return `${encoded(value)}u`;
    case "list":
      return `[${listed(value as readonly Value[], inner, most)}]`;
    case "map":
      return `{${listed(entriesOf(value), ([key, item]) => `${literal(key, most)}: ${inner(item)}`, most)}}`;
    case "optional": {
      const content = (value as { readonly value?: Value }).value;
      return content === undefined ? "optional.none()" : `optional.of(${inner(content)})`;
    }
    case "object":
      return (value as ObjectValue).typeName;
    case "opaque":
      return String(encodeValue(value).text);
    default:
      return encoded(value);
  }
}

const encoded = (value: Value): string => String(Object.values(encodeValue(value))[0]);

/** A whole number as a double. */
const decimal = (text: string): string => (/^-?\d+$/.test(text) ? `${text}.0` : text);

function bytesText(bytes: Uint8Array, most: number): string {
  const text = Array.from(bytes.subarray(0, most), (byte) => {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    return isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  });
  return `b"${text.join("")}"`;
}

/** The items up to the shown length: values may be as large as a request. */
function listed<T>(items: Iterable<T>, text: (item: T) => string, most: number): string {
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const next = text(item);
    texts.push(next);
    length += next.length;
    if (length > most) break;
  }
  return texts.join(", ");
}
