/** Kyverno's `x.orValue(y)` (spec kyverno.md 4.2): both sides are evaluated, a value that is not an optional is its own answer, the result is dyn. */
import { DYN, type FunctionDeclaration, Optional, type Value } from "../../../cel/index.js";
import { functions, methodOf, SMALL } from "./declare.js";

const orValue = (value: Value, other: Value): Value => {
  if (!(value instanceof Optional)) return value;
  return value.value === undefined ? other : value.value;
};

/** The method, and the name under which the reference has the function. */
export const OR_VALUE: readonly FunctionDeclaration[] = [
  { ...methodOf("orValue", "or_value_compat", [DYN, DYN], DYN, orValue, SMALL), replaces: true },
  ...functions(["__orValueCompat__"], "__orValueCompat___dyn_dyn", [DYN, DYN], DYN, orValue, SMALL),
];
