/** What an expression must give (spec validating-admission-policy.md 5.2). */
import type { Type } from "../../cel/index.js";

/** The static types a place accepts, exactly; `any` takes all. */
export type ResultType = "bool" | "string" | "string-or-null" | "any";

/** Whether a place accepts the type. */
export function fits(type: Type, wanted: ResultType): boolean {
  if (wanted === "any") return true;
  return wanted === "string-or-null" ? type.kind === "string" || type.kind === "null" : type.kind === wanted;
}
