/** The required type of an expression (spec validating-admission-policy.md 5.2). */
import { formatLongType, type Type } from "../../../cel/index.js";

/**
 * The static types a place accepts, exactly; `any` takes all, and `list(string)` lists and values of unknown types, too. Two are those of mutations
 * (spec mutating-admission-policy.md 5).
 */
export type ResultType =
  | "bool"
  | "string"
  | "string-or-null"
  | "string-or-dyn"
  | "any"
  | "list(string)"
  | "list(JSONPatch)"
  | "Object";

const TEXTS: readonly string[] = ["list(string)", "list(dyn)", "dyn"];

/** Whether a place accepts the type. */
export function fits(type: Type, wanted: ResultType): boolean {
  if (wanted === "any") return true;
  if (wanted === "list(JSONPatch)" || wanted === "Object") return formatLongType(type) === wanted;
  if (wanted === "list(string)") return TEXTS.includes(formatLongType(type));
  if (wanted === "string-or-dyn") return type.kind === "string" || type.kind === "dyn";
  return wanted === "string-or-null" ? type.kind === "string" || type.kind === "null" : type.kind === wanted;
}
