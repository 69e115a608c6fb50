/** The functions of the math extension (spec kubernetes-cel.md 4.14). */
import { compare } from "../operators/compare.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { intResult, isInt, makeDouble, makeInt, numberOf } from "../values/numbers.js";
import { Uint, uintOf } from "../values/uint.js";
import type { Result, Value } from "../values/value.js";

type Int = number | bigint;
// biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
type Double = number | Number;

/** The number of a numeric argument. */
export const toDouble = (value: Value): number => numberOf(value) as number;

/** `math.@min` (`sign` 1) and `math.@max` (-1) of two numbers: the first one, unless the second goes beyond it. */
const extremeOfTwo =
  (name: string, sign: 1 | -1) =>
  (first: Value, second: Value): Result => {
    const order = compare(first, second);
    if (order === undefined) return noSuchOverload();
    if (order instanceof CelError) return new CelError(`${order.message}: ${name}`);
    return order * sign > 0 ? second : first;
  };

/** The implementations of `math.@min` or `math.@max`. */
export function extremes(name: string, sign: 1 | -1) {
  const ofTwo = extremeOfTwo(name, sign);
  const ofList = (list: readonly Value[]): Result => {
    let best: Result | undefined = list[0];
    if (best === undefined) return new CelError(`${name}(list) argument must not be empty`);
    for (const element of list.slice(1)) {
      best = ofTwo(best as Value, element);
      if (best instanceof CelError) return noSuchOverload(name);
    }
    return numberOf(best) !== undefined ? best : noSuchOverload(name);
  };
  return { ofOne: (value: Value): Result => value, ofTwo, ofList };
}

/** Half away from zero. */
export function round(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

/** `math.abs`. */
export function absolute(value: Value): Result {
  if (value instanceof Uint) return value;
  if (!isInt(value)) return makeDouble(Math.abs(toDouble(value)));
  return intResult(value < 0 ? -BigInt(value) : BigInt(value));
}

/** `math.sign`: -1, 0 or 1 of the same kind; NaN of NaN. */
export function sign(value: Value): Result {
  const number = toDouble(value);
  if (value instanceof Uint) return new Uint(number > 0 ? 1 : 0);
  const result = Number.isNaN(number) ? Number.NaN : number > 0 ? 1 : number < 0 ? -1 : 0;
  return isInt(value) ? result : makeDouble(result);
}

/** Operations on the bits of two numbers of 64 bits. */
export const bitOperations: Readonly<Record<"bitAnd" | "bitOr" | "bitXor", (a: bigint, b: bigint) => bigint>> = {
  bitAnd: (a, b) => a & b,
  bitOr: (a, b) => a | b,
  bitXor: (a, b) => a ^ b,
};

/** Bits of an int or uint; shifting by as many leaves none. */
const BITS = 64n;

/** `math.bitShiftLeft` and `math.bitShiftRight`; both fill with zeros. */
export const shift =
  (name: "bitShiftLeft" | "bitShiftRight") =>
  (value: Int | Uint, offset: Int): Result => {
    if (offset < 0) return new CelError(`math.${name}() negative offset: ${offset}`);
    const by = BigInt(offset) < BITS ? BigInt(offset) : BITS;
    const bits = BigInt.asUintN(64, BigInt(value instanceof Uint ? value.value : value));
    const shifted = BigInt.asUintN(64, name === "bitShiftLeft" ? bits << by : bits >> by);
    return value instanceof Uint ? uintOf(shifted) : makeInt(BigInt.asIntN(64, shifted));
  };

/** A function on the number of a double. */
export const onDouble =
  (apply: (value: number) => number | boolean) =>
  (value: Double): Result => {
    const result = apply(value.valueOf());
    return typeof result === "boolean" ? result : makeDouble(result);
  };
