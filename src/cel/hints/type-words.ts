/** Types as hints look at them. */
import type { Type } from "../types.js";

/** Whether it is an optional value. */
export const isOptional = (type: Type | undefined): boolean => type?.kind === "opaque" && type.name === "optional_type";

/** Whether it is a text. */
export const isText = (type: Type | undefined): boolean => type?.kind === "string";

/** The name by which a type is told from others. */
export const kindName = (type: Type): string =>
  type.kind === "opaque" || type.kind === "object" ? type.name : type.kind;

/** A value that stands for nothing. */
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
