import { BOOL, BYTES, DOUBLE, INT, NULL, STRING, type Type, UINT } from "../types.js";
import { Uint } from "../values/uint.js";
import type { Value } from "../values/value.js";

/** The static type of a value that a literal may have. */
export function literalType(value: Value): Type {
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "string":
      return STRING;
    case "bigint":
      return INT;
    case "number":
      return Number.isSafeInteger(value) ? INT : DOUBLE;
    default:
      if (value === null) return NULL;
      if (value instanceof Uint) return UINT;
      return value instanceof Uint8Array ? BYTES : DOUBLE;
  }
}
