/** Rounding to decimal places, beside the language's own `math.round` (spec kyverno.md 4.6). */
import { DOUBLE, doubleOf, type FunctionDeclaration, INT, makeDouble, type Value } from "../../../cel/index.js";
import { functions, SMALL } from "./declare.js";

/** Most digits: larger powers of ten are not normal doubles. */
const MOST_DIGITS = 308;

/** The power of ten as the reference's library computes it: large ones are not the nearest double. */
function powerOfTen(exponent: number): number {
  if (Math.abs(exponent) > MOST_DIGITS) return Number(`1e${exponent}`);
  let power = 1;
  let square = 10;
  for (let left = Math.abs(exponent); left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power *= square;
    square *= square;
  }
  return exponent < 0 ? 1 / power : power;
}

/** Rounds to a whole number, halves away from zero. */
function rounded(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

function round(value: Value, places: number | bigint): Value {
  const shift = powerOfTen(Number(places));
  return makeDouble(rounded((doubleOf(value) ?? 0) * shift) / shift);
}

/** `math.round(x, places)`. */
export const MATH_FUNCTIONS: readonly FunctionDeclaration[] = functions(
  ["math.round"],
  "math_round_float_int",
  [DOUBLE, INT],
  DOUBLE,
  round,
  SMALL,
);
