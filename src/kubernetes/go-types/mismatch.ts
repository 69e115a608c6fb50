/** Go's errors for values of the wrong type. */
import { isObject } from "../object.js";
import type { GoType } from "./go-type.js";

/**
 * The decoder's error.
 * @param go the name of the type that was wanted
 * @param struct the struct around the value; `""`: none
 * @param places the members on the way to the value; lists and maps are left out
 */
export function jsonError(value: unknown, go: string, struct: string, places: readonly string[]): string {
  const where =
    struct === "" ? "value" : `struct field ${struct.slice(struct.lastIndexOf(".") + 1)}.${places.join(".")}`;
  return `json: cannot unmarshal ${jsonKind(value, go)} into Go ${where} of type ${go}`;
}

/** JSON's name for the value's type; a number that does not fit an integer is printed itself. */
function jsonKind(value: unknown, go: string): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  return /^u?int[0-9]*$/.test(go) ? `number ${integerText(value) ?? String(value)}` : "number";
}

/** A whole number's digits; `undefined` for anything else. */
export function integerText(value: unknown): string | undefined {
  if (typeof value === "bigint") return value.toString();
  const number = value instanceof Number ? value.valueOf() : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? String(number || 0) : undefined;
}

/** The converter's error. */
export function converterError(value: unknown, type: GoType): string {
  const kind = goKind(value);
  switch (type.kind) {
    case "struct":
      return `cannot restore struct from: ${kind}`;
    case "map":
      return `cannot restore map from ${kind}`;
    case "list":
    case "bytes":
      return `cannot restore slice from ${kind}`;
    default:
      // Reflection converts integers to texts and doubles to integers, which JSON does not.
      if (type.kind === "string" ? kind === "int64" : type.kind === "integer" && kind === "float64") {
        return `cannot convert ${kind} to ${type.go}`;
      }
      return `unrecognized type: ${type.kind === "integer" ? type.go : type.kind}`;
  }
}

/** The kind of Go value by which the server represents JSON. */
function goKind(value: unknown): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (Array.isArray(value)) return "slice";
  if (isObject(value)) return "map";
  return typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value)) ? "int64" : "float64";
}
