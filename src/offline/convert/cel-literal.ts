/** JSON values as CEL literals. */
import { stringifyJson } from "../../data/json.js";
import { isObject } from "../../kubernetes/object.js";

/** Longest literal on one line. */
const WIDTH = 80;
const [INT64_MIN, INT64_MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

/**
 * A value as CEL, on several lines where it is long. Kubernetes refuses lists and maps of values of several types, so these are wrapped into `dyn(…)`.
 * @param indent of the lines behind the first one
 */
export function celLiteral(value: unknown, indent = ""): string {
  const deeper = `${indent}  `;
  const items = Array.isArray(value)
    ? itemsOf(value, deeper)
    : isObject(value)
      ? itemsOf(Object.values(value), deeper).map((text, at) => `${quoted(Object.keys(value)[at] ?? "")}: ${text}`)
      : undefined;
  if (items === undefined) return scalar(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const line = `${open}${items.join(", ")}${close}`;
  if (line.length <= WIDTH && !line.includes("\n")) return line;
  return `${open}\n${items.map((item) => `${deeper}${item}`).join(",\n")}\n${indent}${close}`;
}

function itemsOf(values: readonly unknown[], indent: string): readonly string[] {
  const isMixed = new Set(values.map(typeOf)).size > 1;
  return values.map((value) => (isMixed ? `dyn(${celLiteral(value, indent)})` : celLiteral(value, indent)));
}

/** The CEL type of a value's literal, as far as it matters for mixing. */
function typeOf(value: unknown): string {
  if (value === null) return "null";
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : undefined;
  if (items !== undefined) {
    const types = new Set(items.map(typeOf));
    return `${Array.isArray(value) ? "list" : "map"}(${types.size > 1 ? "dyn" : [...types].join("")})`;
  }
  if (typeof value === "string" || typeof value === "boolean") return typeof value;
  return isInteger(value) ? "int" : "double";
}

/** Whether a number is an integer for CEL: one beyond 64 bits is a double. */
const isInteger = (value: unknown): boolean =>
  /^-?\d+$/.test(stringifyJson(value)) &&
  BigInt(stringifyJson(value)) >= INT64_MIN &&
  BigInt(stringifyJson(value)) <= INT64_MAX;

function scalar(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (value === null || typeof value === "boolean" || isInteger(value)) return stringifyJson(value);
  const text = stringifyJson(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** A text in double quotes, whose escapes in JSON and in CEL are the same. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed());
