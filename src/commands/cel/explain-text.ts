/**
 * An explanation as text: one line for each part, indented below what it is part of.
 */

import { encodeValue } from "../../batch/cel/encode-value.js";
import {
  CelError,
  type Explanation,
  entriesOf,
  kindOf,
  ObjectValue,
  type Result,
  type Value,
} from "../../cel/index.js";

/** Longer values and sources are cut: a line is for reading. */
const MAX_LENGTH = 100;

/** The lines of an explanation. Names that have no value of their own are left out. */
export function explanationLines(explanation: Explanation, depth = 0): readonly string[] {
  const { text, value, parts } = explanation;
  if (parts.length === 0 && depth > 0 && (value === undefined || isNameOnly(value))) return [];
  const shown = value === undefined ? "not evaluated" : valueText(value);
  const lines = value === undefined ? [] : parts.flatMap((part) => explanationLines(part, depth + 1));
  return [`${"  ".repeat(depth)}${cut(text)}  →  ${shown}`, ...lines];
}

/** Such as `variables` and `authorizer`: what they are has no text, and asking them for their fields would evaluate these. */
const isNameOnly = (value: Result): boolean => value instanceof ObjectValue;

/** What a terminal would act on, or another line would begin with. */
const CONTROL = /\p{Cc}+/gu;

const cut = (text: string, most = MAX_LENGTH): string =>
  printable(text.length > most ? `${text.slice(0, most)}…` : text);

/** A text that stays in its line, and does nothing to a terminal. */
export const printable = (text: string): string => text.replaceAll(CONTROL, " ");

/** A value in CEL's own notation, or the error, cut to one line of some length. */
export function valueText(value: Result, most = MAX_LENGTH): string {
  return cut(value instanceof CelError ? `error: ${value.message}` : literal(value, most), most);
}

function literal(value: Value, most: number): string {
  switch (kindOf(value)) {
    case "null":
      return "null";
    case "string":
      return JSON.stringify((value as string).slice(0, most + 1));
    case "bytes":
      return bytesText(value as Uint8Array, most);
    case "double":
      return decimal(String(Object.values(encodeValue(value))[0]));
    case "duration":
    case "timestamp":
      return `${kindOf(value)}("${String(Object.values(encodeValue(value))[0])}")`;
    case "uint":
      return `${String(Object.values(encodeValue(value))[0])}u`;
    case "list":
      return `[${listed(value as readonly Value[], (item) => literal(item, most), most)}]`;
    case "map":
      return `{${listed(entriesOf(value), ([key, item]) => `${literal(key, most)}: ${literal(item, most)}`, most)}}`;
    case "optional": {
      const content = (value as { readonly value?: Value }).value;
      return content === undefined ? "optional.none()" : `optional.of(${literal(content, most)})`;
    }
    case "object":
      return (value as ObjectValue).typeName;
    case "opaque":
      return String(encodeValue(value).text);
    default:
      return String(Object.values(encodeValue(value))[0]);
  }
}

/** A whole number as a double, and not as an integer. */
const decimal = (text: string): string => (/^-?\d+$/.test(text) ? `${text}.0` : text);

function bytesText(bytes: Uint8Array, most: number): string {
  const text = Array.from(bytes.subarray(0, most), (byte) => {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    return isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  });
  return `b"${text.join("")}"`;
}

/** No more than is shown: values may be as large as a request. */
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
