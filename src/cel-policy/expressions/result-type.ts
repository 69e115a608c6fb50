/** What an expression must give (spec validating-admission-policy.md 5.2), and the words for one that gives something else. */
import { formatType, type Type } from "../../cel/index.js";

/** The static types a place accepts, exactly; `any` takes all. */
export type ResultType = "bool" | "string" | "string-or-null" | "any";

/** Why the type does not fit; `undefined` when it does. */
export function typeError(type: Type, wanted: ResultType): string | undefined {
  switch (wanted) {
    case "any":
      return undefined;
    case "bool":
    case "string":
      return type.kind === wanted ? undefined : `must evaluate to ${wanted} but got ${longName(type)}`;
    case "string-or-null":
      if (type.kind === "string" || type.kind === "null") return undefined;
      return `must evaluate to one of [string null_type] but got ${longName(type)}`;
  }
}

/** Types print their full names here, not the short ones of the checker's messages. */
function longName(type: Type): string {
  switch (type.kind) {
    case "null":
      return "null_type";
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "any":
      return "google.protobuf.Any";
    case "list":
      return `list(${longName(type.element)})`;
    case "map":
      return `map(${longName(type.key)}, ${longName(type.value)})`;
    case "opaque":
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(longName).join(", ")})`;
    default:
      return formatType(type);
  }
}
