/**
 * Mistakes in an object's fields, printed as the API server prints them: `<path>: <Type>[: <value>][: <detail>]`
 * (spec validating-admission-policy.md 0.4).
 */
import { quote } from "../data/go/quote.js";
import { compareNames } from "./names.js";

/** A path inside an object: member names and list indexes. */
export type FieldPath = readonly (string | number)[];

/** An item of a list that is identified by a key, not by its place. */
export interface ItemKey {
  readonly key: string;
}

/** A path in which items may be identified by their keys. */
export type KeyedPath = readonly (string | number | ItemKey)[];

/** One of the mistakes of an expression, as its compiler tells it. */
export interface ExpressionMistake {
  /** Its place in the expression: 1-based line, 1-based column in code points; -1 and 0 when it concerns the whole. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The text to write instead, where that is known. */
  readonly hint?: string | undefined;
}

/** One mistake. */
export interface FieldError<P extends KeyedPath = FieldPath> {
  readonly path: P;
  /** The message with its type and value, without the path. */
  readonly text: string;
  /** A proposed correction: beside the message, which is the API server's. */
  readonly hint?: string | undefined;
  /** Of an expression: all of which the text tells, one by one. */
  readonly mistakes?: readonly ExpressionMistake[] | undefined;
  /** Of an expression that does not compile, or has types that do not fit. */
  readonly code?: "CEL_ABSENT" | "CEL_EXPRESSION" | "CEL_NULL" | "CEL_TYPES" | undefined;
}

/** `spec.validations[0].expression`, `spec.allowed.otherNames[1.2.3]` */
export function formatPath(path: KeyedPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (typeof part === "object") text += `[${part.key}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

/** The whole text of a mistake. */
export const formatFieldError = (error: FieldError<KeyedPath>): string => `${formatPath(error.path)}: ${error.text}`;

/** Whole texts as one: none twice, and in brackets when there are several. */
export function aggregate(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

/** A string in double quotes as Go's `%q` prints it. */
export const goQuote = (text: string): string => quote(text, false);

/** A value as Go's encoder prints it: compact, with the characters escaped that are special in HTML. */
export const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** A map of texts as Go's encoder prints it: by the bytes of its keys. */
export const goJsonMap = (map: Readonly<Record<string, string>>): string =>
  `{${Object.keys(map)
    .sort(compareNames)
    .map((key) => `${goJson(key)}:${goJson(map[key])}`)
    .join(",")}}`;

function printed(value: unknown): string {
  if (typeof value === "string") return goQuote(value);
  return typeof value === "bigint" ? String(value) : goJson(value);
}
const withDetail = (text: string, detail: string): string => (detail === "" ? text : `${text}: ${detail}`);

/** A value is missing. */
export const required = <P extends KeyedPath>(path: P, detail = ""): FieldError<P> => ({
  path,
  text: withDetail("Required value", detail),
});

/** A value is wrong. */
export const invalid = <P extends KeyedPath>(path: P, value: unknown, detail: string): FieldError<P> => ({
  path,
  text: withDetail(`Invalid value: ${printed(value)}`, detail),
});

/**
 * A value is not one of those supported. Values of such fields have a type of their own in Go, and print as JSON.
 * @param print how the value is printed, where it is a plain string
 */
export const notSupported = (
  path: FieldPath,
  value: string,
  supported: readonly string[],
  print: (value: string) => string = goJson,
): FieldError => {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return { path, text: withDetail(`Unsupported value: ${print(value)}`, detail) };
};

/** A value must be unique. */
export const duplicate = (path: FieldPath, value: string): FieldError => ({
  path,
  text: `Duplicate value: ${goQuote(value)}`,
});

/** A value must not be present. */
export const forbidden = <P extends KeyedPath>(path: P, detail: string): FieldError<P> => ({
  path,
  text: `Forbidden: ${detail}`,
});

/** A list is too long. */
export const tooMany = (path: FieldPath, count: number, limit: number): FieldError => ({
  path,
  text: `Too many: ${count}: must have at most ${limit} items`,
});

/** A text, or all of a map's, has too many bytes. */
export const tooLong = (path: FieldPath, limit: number): FieldError => ({
  path,
  text: `Too long: may not be more than ${limit} bytes`,
});

/** A failure that is not a mistake of the value alone. */
export const internal = <P extends KeyedPath>(path: P, detail: string): FieldError<P> => ({
  path,
  text: `Internal error: ${detail}`,
});
