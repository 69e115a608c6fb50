/**
 * The runtime name of a type that an expression names (spec kubernetes-cel.md 2.1).
 */
import type { Type } from "../types.js";

/** The name that `type(x)` gives values of this type; `name` is how the expression wrote it. */
export function runtimeTypeName(type: Type, name: string): string {
  switch (type.kind) {
    case "null":
      return "null_type";
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "type":
      return type.of === undefined ? "type" : runtimeTypeName(type.of, name);
    case "opaque":
    case "object":
      return type.name;
    case "param":
    case "wrapper":
    case "error":
      return name;
    default:
      return type.kind;
  }
}
