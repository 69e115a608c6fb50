import type { Expr } from "../../ast.js";
import type { Type } from "../../types.js";
import { fixed, type Range } from "./range.js";

/** The size of a literal: characters, octets, elements, entries; 1 for scalars. */
export function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case "literal": {
      const { value } = expr;
      if (typeof value === "string") return fixed(BigInt([...value].length));
      return fixed(value instanceof Uint8Array ? BigInt(value.length) : 1n);
    }
    case "list":
      return fixed(BigInt(expr.elements.length));
    case "map":
      return fixed(BigInt(expr.entries.length));
    default:
      return undefined;
  }
}

/** Whether values of this type are always of size 1. */
export function isScalar(type: Type): boolean {
  switch (type.kind) {
    case "bool":
    case "double":
    case "duration":
    case "int":
    case "timestamp":
    case "uint":
      return true;
    case "wrapper":
      return isScalar(type.of);
    case "opaque":
      return type.name === "optional_type" && type.params[0] !== undefined && isScalar(type.params[0]);
    default:
      return false;
  }
}
