import { doubleText } from "../values/double-text.js";
import { Uint } from "../values/uint.js";
import type { Value } from "../values/value.js";
import { doubleOf } from "./kind.js";

/**
 * A map key or list index inside an error text (spec kubernetes-cel.md 2.9): a string raw, a uint without suffix, a double as `string(double)`
 * prints it.
 */
export function printKey(key: Value): string {
  if (typeof key === "string") return key;
  if (key instanceof Uint) return String(key.value);
  const double = doubleOf(key);
  return double === undefined ? String(key) : doubleText(double);
}
