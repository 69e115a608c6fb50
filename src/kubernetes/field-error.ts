/**
 * Mistakes in an object's fields, printed as the API server prints them: `<path>: <Type>[: <value>][: <detail>]`
 * (spec validating-admission-policy.md 0.4).
 */
import { quote } from "../data/go-quote.js";

/** A path inside an object: member names and list indexes. */
export type FieldPath = readonly (string | number)[];

/** One mistake. */
export interface FieldError {
  readonly path: FieldPath;
  /** The message with its type and value, without the path. */
  readonly text: string;
}

/** `spec.validations[0].expression` */
export function formatPath(path: FieldPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

/** The whole text of a mistake. */
export const formatFieldError = (error: FieldError): string => `${formatPath(error.path)}: ${error.text}`;

/** A string in double quotes as Go's `%q` prints it. */
export const goQuote = (text: string): string => quote(text, false);

/** A value as Go's encoder prints it: compact, with the characters escaped that are special in HTML. */
export const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const printed = (value: unknown): string => (typeof value === "string" ? goQuote(value) : goJson(value));
const withDetail = (text: string, detail: string): string => (detail === "" ? text : `${text}: ${detail}`);

/** A value is missing. */
export const required = (path: FieldPath, detail = ""): FieldError => ({
  path,
  text: withDetail("Required value", detail),
});

/** A value is wrong. */
export const invalid = (path: FieldPath, value: unknown, detail: string): FieldError => ({
  path,
  text: withDetail(`Invalid value: ${printed(value)}`, detail),
});

/** A value is none of those possible. Values of such fields have a type of their own in Go, and print as JSON. */
export const notSupported = (path: FieldPath, value: string, supported: readonly string[]): FieldError => ({
  path,
  text: `Unsupported value: ${goJson(value)}: supported values: ${supported.map(goQuote).join(", ")}`,
});

/** A value must be unique. */
export const duplicate = (path: FieldPath, value: string): FieldError => ({
  path,
  text: `Duplicate value: ${goQuote(value)}`,
});

/** A value must not be there. */
export const forbidden = (path: FieldPath, detail: string): FieldError => ({ path, text: `Forbidden: ${detail}` });

/** A list is too long. */
export const tooMany = (path: FieldPath, count: number, limit: number): FieldError => ({
  path,
  text: `Too many: ${count}: must have at most ${limit} items`,
});

/** Something failed that is no mistake of the value alone. */
export const internal = (path: FieldPath, detail: string): FieldError => ({ path, text: `Internal error: ${detail}` });
