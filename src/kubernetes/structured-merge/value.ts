/** Values of objects and patches in the view of structured-merge-diff, and in Go's printed form. */
import { floatText } from "../../data/float-text.js";
import { quote } from "../../data/go/quote.js";
import { compareNames } from "../names.js";
import { ForeignValue, NIL_LIST } from "./patch-value.js";
import { LIST, MAP, SCALAR } from "./schema.js";

/** A value with members. */
export type Members = { readonly [name: string]: unknown };

/** The bit of a value's form; 0 for null and for values without one. */
export function formOf(value: unknown): number {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "bigint":
      return SCALAR;
    case "object":
      if (value === null) return 0;
      if (Array.isArray(value)) return LIST;
      if (value instanceof Number) return SCALAR;
      return value instanceof ForeignValue ? 0 : MAP;
    default:
      return 0;
  }
}

/** Whether a value is an int64 or a float64. */
export const isNumeric = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "bigint" || value instanceof Number;

/** A value's text in paths. */
export function pathText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quote(value, false);
    case "object":
      break;
    default:
      return goText(value);
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(pathText).join(",")}]`;
  if (value instanceof ForeignValue) return "{{undefined}}";
  if (value instanceof Number) return goText(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}=${pathText(inner)}`)
    .join("");
}

/** A value as Go's `%v` prints it. */
export function goText(value: unknown): string {
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) ? String(value) : doubleText(value);
    case "object":
      break;
    default:
      return String(value);
  }
  if (value === null) return "<nil>";
  if (value instanceof Number) return doubleText(value.valueOf());
  if (value instanceof ForeignValue) return value.text;
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  return `map[${sortedMembers(value)
    .map(([name, inner]) => `${name}:${goText(inner)}`)
    .join(" ")}]`;
}

/** A value as Go's `%#v` prints it inside of a value. */
export function goSyntax(value: unknown): string {
  if (typeof value === "string") return quote(value, false);
  if (typeof value !== "object" || value instanceof Number) return goText(value);
  if (value === null) return "interface {}(nil)";
  if (value instanceof ForeignValue) return value.syntax;
  if (value === NIL_LIST) return "[]interface {}(nil)";
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  const members = sortedMembers(value).map(([name, inner]) => `${quote(name, false)}:${goSyntax(inner)}`);
  return `map[string]interface {}{${members.join(", ")}}`;
}

/** A value's type as Go's `%T` prints it. */
export function goType(value: unknown): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "bigint":
      return "int64";
    case "number":
      return Number.isSafeInteger(value) ? "int64" : "float64";
    default:
      if (value instanceof Number) return "float64";
      if (value instanceof ForeignValue) return value.type;
      if (Array.isArray(value)) return "[]interface {}";
      return value === null || value === undefined ? "<nil>" : "map[string]interface {}";
  }
}

/** Most members that a message shows of an object: sorting a hundred thousand takes longer than the rest of a request. */
const SHOWN_MEMBERS_MAX = 10_000;

/** The members in the order of their names; if there are too many, the first ones. */
const sortedMembers = (value: object): [string, unknown][] =>
  Object.keys(value)
    .slice(0, SHOWN_MEMBERS_MAX)
    .sort(compareNames)
    .map((name) => [name, (value as Members)[name]]);

/** A double as `%v` prints it. */
const doubleText = (value: number): string => {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return floatText(value, "g", undefined).replace(/^\+/, "");
};
