/** Questions about types that hints ask. */
import type { Type } from "../types.js";

/** Whether the type is an optional. */
export const isOptional = (type: Type | undefined): boolean => type?.kind === "opaque" && type.name === "optional_type";

/** Whether the type is string. */
export const isText = (type: Type | undefined): boolean => type?.kind === "string";

/** The name that distinguishes a type from others. */
export const kindName = (type: Type): string =>
  type.kind === "opaque" || type.kind === "object" ? type.name : type.kind;

/** An empty value of a type. */
export function defaultFor(type: Type): string {
  switch (type.kind) {
    case "int":
      return "0";
    case "uint":
      return "0u";
    case "double":
      return "0.0";
    case "bool":
      return "false";
    case "list":
      return "[]";
    case "map":
      return "{}";
    case "bytes":
      return 'b""';
    default:
      return '""';
  }
}
