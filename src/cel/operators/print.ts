/**
 * How values print inside error texts (spec kubernetes-cel.md 2.9).
 */
import { Uint } from "../values/uint.js";
import type { Value } from "../values/value.js";
import { doubleOf } from "./kind.js";

/** A map key or list index inside an error text: a string raw, a uint without suffix, a double as `string(double)` prints it. */
export function printKey(key: Value): string {
  if (typeof key === "string") return key;
  if (key instanceof Uint) return String(key.value);
  const double = doubleOf(key);
  return double === undefined ? String(key) : printDouble(double);
}

/**
 * A double as `string(double)` prints it (spec kubernetes-cel.md 3.2): the shortest digits that read back as the same number; exponent form when the
 * decimal exponent is below -4 or at least 6.
 */
export function printDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa = "0", exponentText = "0"] = Math.abs(value).toExponential().split("e");
  const exponent = Number(exponentText);
  const digits = mantissa.replace(".", "");
  if (exponent < -4 || exponent >= 6) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const rest = digits.slice(exponent + 1);
  return `${sign}${whole}${rest === "" ? "" : `.${rest}`}`;
}
