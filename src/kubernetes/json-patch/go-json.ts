/** JSON as Go writes it: members in the order of their names, characters of HTML escaped. */
import { numberText } from "./json-text.js";
import { isObject } from "./node.js";

const HTML = /[<>&\u2028\u2029]/g;

/** The text of a value; of an object's error, which is rare. */
export function goJson(value: unknown): string {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (!isObject(value)) return value === null || typeof value === "boolean" ? String(value) : numberText(value);
  const keys = Object.keys(value).sort(compareUtf8);
  return `{${keys.map((key) => `${text(key)}:${goJson(value[key])}`).join(",")}}`;
}

/** The order of the bytes of UTF-8. */
const compareUtf8 = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const text = (value: string): string =>
  JSON.stringify(value).replace(HTML, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
