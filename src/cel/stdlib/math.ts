/** The math extension, outside Kubernetes only (spec kubernetes-cel.md 4.14). */
import type { FunctionDeclaration, Library } from "../declarations.js";
import { fn, overload, overloadFn } from "../declare.js";
import { compare } from "../operators/compare.js";
import { BOOL, DOUBLE, DYN, INT, listType, type Type, UINT } from "../types.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { intResult, isInt, makeDouble, makeInt, numberOf } from "../values/numbers.js";
import { Uint, uintOf } from "../values/uint.js";
import type { Result, Value } from "../values/value.js";

// The functions of the math extension (spec kubernetes-cel.md 4.14).

type Int = number | bigint;
// biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
type Double = number | Number;

/** The number of a numeric argument. */
const toDouble = (value: Value): number => numberOf(value) as number;

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
function extremes(name: string, sign: 1 | -1) {
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
function round(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

/** `math.abs`. */
function absolute(value: Value): Result {
  if (value instanceof Uint) return value;
  if (!isInt(value)) return makeDouble(Math.abs(toDouble(value)));
  return intResult(value < 0 ? -BigInt(value) : BigInt(value));
}

/** `math.sign`: -1, 0 or 1 of the same kind; NaN of NaN. */
function sign(value: Value): Result {
  const number = toDouble(value);
  if (value instanceof Uint) return new Uint(number > 0 ? 1 : 0);
  const result = Number.isNaN(number) ? Number.NaN : number > 0 ? 1 : number < 0 ? -1 : 0;
  return isInt(value) ? result : makeDouble(result);
}

/** Operations on the bits of two numbers of 64 bits. */
const bitOperations: Readonly<Record<"bitAnd" | "bitOr" | "bitXor", (a: bigint, b: bigint) => bigint>> = {
  bitAnd: (a, b) => a & b,
  bitOr: (a, b) => a | b,
  bitXor: (a, b) => a ^ b,
};

/** Bits of an int or uint; shifting by as many leaves none. */
const BITS = 64n;

/** `math.bitShiftLeft` and `math.bitShiftRight`; both fill with zeros. */
const shift =
  (name: "bitShiftLeft" | "bitShiftRight") =>
  (value: Int | Uint, offset: Int): Result => {
    if (offset < 0) return new CelError(`math.${name}() negative offset: ${offset}`);
    const by = BigInt(offset) < BITS ? BigInt(offset) : BITS;
    const bits = BigInt.asUintN(64, BigInt(value instanceof Uint ? value.value : value));
    const shifted = BigInt.asUintN(64, name === "bitShiftLeft" ? bits << by : bits >> by);
    return value instanceof Uint ? uintOf(shifted) : makeInt(BigInt.asIntN(64, shifted));
  };

/** A function on the number of a double. */
const onDouble =
  (apply: (value: number) => number | boolean) =>
  (value: Double): Result => {
    const result = apply(value.valueOf());
    return typeof result === "boolean" ? result : makeDouble(result);
  };

const numbers: readonly (readonly [string, Type])[] = [
  ["double", DOUBLE],
  ["int", INT],
  ["uint", UINT],
];

/** The functions that the variadic macros `math.least` (`min`) and `math.greatest` (`max`) expand to. */
function extreme(name: "min" | "max"): FunctionDeclaration {
  const id = `math_@${name}`;
  const { ofOne, ofTwo, ofList } = extremes(`math.@${name}`, name === "min" ? 1 : -1);
  return fn(
    `math.@${name}`,
    ...numbers.map(([kind, type]) => overload(`${id}_${kind}`, [type], type, ofOne)),
    ...numbers.map(([kind, type]) => overload(`${id}_${kind}_${kind}`, [type, type], type, ofTwo)),
    ...numbers.flatMap(([left, leftType]) =>
      numbers
        .filter(([right]) => right !== left)
        .map(([right, rightType]) => overload(`${id}_${left}_${right}`, [leftType, rightType], DYN, ofTwo)),
    ),
    ...numbers.map(([kind, type]) => overload(`${id}_list_${kind}`, [listType(type)], type, ofList)),
  );
}

const onDoubles = Object.entries({ ceil: Math.ceil, floor: Math.floor, round, trunc: Math.trunc }).map(
  ([name, apply]) => overloadFn(`math.${name}`, `math_${name}_double`, [DOUBLE], DOUBLE, onDouble(apply)),
);

const tests = Object.entries({
  isInf: (value: number) => Math.abs(value) === Number.POSITIVE_INFINITY,
  isNaN: Number.isNaN,
  isFinite: Number.isFinite,
}).map(([name, test]) => overloadFn(`math.${name}`, `math_${name}_double`, [DOUBLE], BOOL, onDouble(test)));

const bits = Object.entries(bitOperations).map(([name, apply]) =>
  fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT, (a: number | bigint, b: number | bigint) =>
      makeInt(apply(BigInt(a), BigInt(b))),
    ),
    overload(`math_${name}_uint_uint`, [UINT, UINT], UINT, (a: Uint, b: Uint) =>
      uintOf(apply(BigInt(a.value), BigInt(b.value))),
    ),
  ),
);

const shifts = (["bitShiftLeft", "bitShiftRight"] as const).map((name) =>
  fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT, shift(name)),
    overload(`math_${name}_uint_int`, [UINT, INT], UINT, shift(name)),
  ),
);

/** Extremes, rounding, tests, signs and bits. */
export const mathLibrary: Library = {
  name: "math",
  functions: [
    extreme("min"),
    extreme("max"),
    ...onDoubles,
    ...tests,
    fn("math.abs", ...numbers.map(([kind, type]) => overload(`math_abs_${kind}`, [type], type, absolute))),
    fn("math.sign", ...numbers.map(([kind, type]) => overload(`math_sign_${kind}`, [type], type, sign))),
    fn(
      "math.sqrt",
      ...numbers.map(([kind, type]) =>
        overload(`math_sqrt_${kind}`, [type], DOUBLE, (value: Value) => makeDouble(Math.sqrt(toDouble(value)))),
      ),
    ),
    ...bits,
    fn(
      "math.bitNot",
      overload("math_bitNot_int_int", [INT], INT, (value: number | bigint) => makeInt(~BigInt(value))),
      overload("math_bitNot_uint_uint", [UINT], UINT, ({ value }: Uint) => uintOf(BigInt.asUintN(64, ~BigInt(value)))),
    ),
    ...shifts,
  ],
};
