/** The required type of an expression (spec validating-admission-policy.md 5.2). */
import { formatLongType, type Type } from "../../../cel/index.js";

/** The static types a place accepts, exactly; `any` takes all. The last two are those of mutations (spec mutating-admission-policy.md 5). */
export type ResultType = "bool" | "string" | "string-or-null" | "any" | "list(JSONPatch)" | "Object";

/** Whether a place accepts the type. */
export function fits(type: Type, wanted: ResultType): boolean {
  if (wanted === "any") return true;
  if (wanted === "list(JSONPatch)" || wanted === "Object") return formatLongType(type) === wanted;
  return wanted === "string-or-null" ? type.kind === "string" || type.kind === "null" : type.kind === wanted;
}
