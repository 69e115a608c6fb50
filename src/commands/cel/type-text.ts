/**
 * Types with the long names that the reference uses for a result's type: `google.protobuf.Timestamp`, `null_type`.
 */
import type { Type } from "../../cel/types.js";

/** The text of a type. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "any":
      return "google.protobuf.Any";
    case "null":
      return "null_type";
    case "error":
      return "!error!";
    case "list":
      return `list(${typeText(type.element)})`;
    case "map":
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case "opaque":
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(typeText).join(", ")})`;
    case "object":
    case "param":
      return type.name;
    case "type":
      return type.of === undefined ? "type" : `type(${typeText(type.of)})`;
    case "wrapper":
      return `wrapper(${typeText(type.of)})`;
    default:
      return type.kind;
  }
}
