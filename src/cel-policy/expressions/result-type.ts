/** What an expression must give (spec validating-admission-policy.md 5.2), and the words for one that gives something else. */
import { formatLongType, type Type } from "../../cel/index.js";

/** The static types a place accepts, exactly; `any` takes all. */
export type ResultType = "bool" | "string" | "string-or-null" | "any";

/** Why the type does not fit; `undefined` when it does. */
export function typeError(type: Type, wanted: ResultType): string | undefined {
  switch (wanted) {
    case "any":
      return undefined;
    case "bool":
    case "string":
      return type.kind === wanted ? undefined : `must evaluate to ${wanted} but got ${formatLongType(type)}`;
    case "string-or-null":
      if (type.kind === "string" || type.kind === "null") return undefined;
      return `must evaluate to one of [string null_type] but got ${formatLongType(type)}`;
  }
}
