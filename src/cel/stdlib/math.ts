/** The math extension, outside Kubernetes only (spec kubernetes-cel.md 4.14). */
import type { FunctionDeclaration, Library } from "../declarations.js";
import { fn, overload, overloadFn } from "../declare.js";
import { BOOL, DOUBLE, DYN, INT, listType, type Type, UINT } from "../types.js";
import { makeDouble, makeInt } from "../values/numbers.js";
import { type Uint, uintOf } from "../values/uint.js";
import type { Value } from "../values/value.js";
import { absolute, bitOperations, extremes, onDouble, round, shift, sign, toDouble } from "./math-functions.js";

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
