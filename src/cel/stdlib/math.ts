/** The math extension, outside Kubernetes only (spec kubernetes-cel.md 4.14). */
import type { FunctionDeclaration, Library } from "../declarations.js";
import { fn, overload } from "../declare.js";
import { BOOL, DOUBLE, DYN, INT, listType, type Type, UINT } from "../types.js";

const numbers: readonly (readonly [string, Type])[] = [
  ["double", DOUBLE],
  ["int", INT],
  ["uint", UINT],
];

/** What the variadic macros `math.least` (`min`) and `math.greatest` (`max`) expand to. */
function extreme(name: "min" | "max"): FunctionDeclaration {
  const id = `math_@${name}`;
  return fn(
    `math.@${name}`,
    ...numbers.map(([kind, type]) => overload(`${id}_${kind}`, [type], type)),
    ...numbers.map(([kind, type]) => overload(`${id}_${kind}_${kind}`, [type, type], type)),
    ...numbers.flatMap(([left, leftType]) =>
      numbers
        .filter(([right]) => right !== left)
        .map(([right, rightType]) => overload(`${id}_${left}_${right}`, [leftType, rightType], DYN)),
    ),
    ...numbers.map(([kind, type]) => overload(`${id}_list_${kind}`, [listType(type)], type)),
  );
}

const rounding = ["ceil", "floor", "round", "trunc"].map((name) =>
  fn(`math.${name}`, overload(`math_${name}_double`, [DOUBLE], DOUBLE)),
);

const tests = ["isInf", "isNaN", "isFinite"].map((name) =>
  fn(`math.${name}`, overload(`math_${name}_double`, [DOUBLE], BOOL)),
);

const bits = ["bitAnd", "bitOr", "bitXor"].map((name) =>
  fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT),
    overload(`math_${name}_uint_uint`, [UINT, UINT], UINT),
  ),
);

const shifts = ["bitShiftLeft", "bitShiftRight"].map((name) =>
  fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT),
    overload(`math_${name}_uint_int`, [UINT, INT], UINT),
  ),
);

/** Extremes, rounding, tests, signs and bits. */
export const mathLibrary: Library = {
  name: "math",
  functions: [
    extreme("min"),
    extreme("max"),
    ...rounding,
    ...tests,
    fn("math.abs", ...numbers.map(([kind, type]) => overload(`math_abs_${kind}`, [type], type))),
    fn("math.sign", ...numbers.map(([kind, type]) => overload(`math_sign_${kind}`, [type], type))),
    fn("math.sqrt", ...numbers.map(([kind, type]) => overload(`math_sqrt_${kind}`, [type], DOUBLE))),
    ...bits,
    fn("math.bitNot", overload("math_bitNot_int_int", [INT], INT), overload("math_bitNot_uint_uint", [UINT], UINT)),
    ...shifts,
  ],
};
