/** Values as a reader sees them: CEL's own notation, in one line, and no longer than is read. */
import { encodeValue } from "../batch/cel/encode-value.js";
import { CelError, entriesOf, kindOf, type ObjectValue, type Result, type Value } from "../cel/index.js";

/** Longer values and sources are cut: some hundreds of characters are for reading, an object of a request is not. */
export const MAX_TEXT_LENGTH = 300;

/** What a terminal would act on, or another line would begin with. */
const CONTROL = /\p{Cc}+/gu;

/** A text that is cut where it is longer than that. */
export const cutTo = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;

/** A text that stays in its line, and does nothing to a terminal. */
export const printable = (text: string): string => text.replaceAll(CONTROL, " ");

/** A text in one line, cut. */
export const lineOf = (text: string): string => printable(cutTo(text, MAX_TEXT_LENGTH));

/** A value in CEL's own notation, or the error, cut to one line. */
export function valueText(value: Result): string {
  return lineOf(value instanceof CelError ? `error: ${value.message}` : literal(value));
}

/** @param depth of what it is in: each level has a character of the text at least, so that what lies deeper is not shown */
function literal(value: Value, depth = 0): string {
  if (depth > MAX_TEXT_LENGTH) return "";
  const inner = (item: Value): string => literal(item, depth + 1);
  switch (kindOf(value)) {
    case "null":
      return "null";
    case "string":
      return JSON.stringify((value as string).slice(0, MAX_TEXT_LENGTH + 1));
    case "uint":
      return `${String(Object.values(encodeValue(value))[0])}u`;
    case "list":
      return `[${listed(value as readonly Value[], inner)}]`;
    case "map":
      return `{${listed(entriesOf(value), ([key, item]) => `${literal(key)}: ${inner(item)}`)}}`;
    case "optional": {
      const content = (value as { readonly value?: Value }).value;
      return content === undefined ? "optional.none()" : `optional.of(${inner(content)})`;
    }
    case "object":
      return (value as ObjectValue).typeName;
    case "opaque":
      return String(encodeValue(value).text);
    default:
      return String(Object.values(encodeValue(value))[0]);
  }
}

/** No more than is shown: values may be as large as a request. */
function listed<T>(items: Iterable<T>, text: (item: T) => string): string {
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const next = text(item);
    texts.push(next);
    length += next.length;
    if (length > MAX_TEXT_LENGTH) break;
  }
  return texts.join(", ");
}
