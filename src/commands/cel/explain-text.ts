/**
 * An explanation as text: one line for each part, indented below what it is part of.
 */

import { encodeValue } from "../../batch/cel/encode-value.js";
import { CelError, type Explanation, entriesOf, kindOf, type Result, type Value } from "../../cel/index.js";

/** Longer values and sources are cut: a line is for reading. */
const MAX_LENGTH = 100;

/** The lines of an explanation. Names that have no value of their own are left out. */
export function explanationLines(explanation: Explanation, depth = 0): readonly string[] {
  const { text, value, parts } = explanation;
  if (value === undefined && parts.length === 0 && depth > 0) return [];
  const shown = value === undefined ? "not evaluated" : valueText(value);
  const lines = value === undefined ? [] : parts.flatMap((part) => explanationLines(part, depth + 1));
  return [`${"  ".repeat(depth)}${cut(text)}  →  ${shown}`, ...lines];
}

const cut = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

/** A value in CEL's own notation, or the error, cut to one line. */
export function valueText(value: Result): string {
  return cut(value instanceof CelError ? `error: ${value.message}` : literal(value));
}

function literal(value: Value): string {
  switch (kindOf(value)) {
    case "null":
      return "null";
    case "string":
      return JSON.stringify(value);
    case "uint":
      return `${String(Object.values(encodeValue(value))[0])}u`;
    case "list":
      return `[${(value as readonly Value[]).map(literal).join(", ")}]`;
    case "map":
      return `{${Array.from(entriesOf(value), ([key, item]) => `${literal(key)}: ${literal(item)}`).join(", ")}}`;
    case "optional": {
      const content = (value as { readonly value?: Value }).value;
      return content === undefined ? "optional.none()" : `optional.of(${literal(content)})`;
    }
    case "object":
      return String(encodeValue(value).map);
    case "opaque":
      return String(encodeValue(value).text);
    default:
      return String(Object.values(encodeValue(value))[0]);
  }
}
