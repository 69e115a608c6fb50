/** JSON values as CEL literals. */
import { stringifyJson } from "../../data/json.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";

/** Longest literal on one line. */
const WIDTH = 80;

/**
 * A value as CEL, on several lines where it is long. Kubernetes refuses lists and maps of values of several types, so these are wrapped into `dyn(…)`.
 * @param indent of the lines behind the first one
 */
export function celLiteral(value: unknown, indent = ""): string {
  if (!isContainer(value)) return scalar(value);
  const isList = Array.isArray(value);
  const deeper = `${indent}  `;
  const isMixed = new Set(Object.values(value).map(typeOf)).size > 1;
  const items = Object.entries(value).map(([key, item]) => {
    const text = celLiteral(item, deeper);
    return `${isList ? "" : `${quoted(key)}: `}${isMixed ? `dyn(${text})` : text}`;
  });
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const line = `${open}${items.join(", ")}${close}`;
  if (line.length <= WIDTH && !line.includes("\n")) return line;
  return `${open}\n${items.map((item) => `${deeper}${item}`).join(",\n")}\n${indent}${close}`;
}

const isContainer = (value: unknown): value is JsonObject | readonly unknown[] =>
  isObject(value) || Array.isArray(value);

/** The CEL type of a value's literal, as far as it matters for mixing. */
function typeOf(value: unknown): string {
  if (isContainer(value)) {
    const types = new Set(Object.values(value).map(typeOf));
    return `${Array.isArray(value) ? "list" : "map"}(${types.size > 1 ? "dyn" : [...types].join("")})`;
  }
  if (value === null || typeof value === "string" || typeof value === "boolean") return typeof value;
  return isInteger(value) ? "int" : "double";
}

/** Whether a number is an integer for CEL: one beyond 64 bits is a double. */
function isInteger(value: unknown): boolean {
  const text = stringifyJson(value);
  return /^-?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

function scalar(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (value === null || typeof value === "boolean" || isInteger(value)) return stringifyJson(value);
  const text = stringifyJson(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** A text in double quotes, whose escapes in JSON and in CEL are the same. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed());
