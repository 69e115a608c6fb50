/** Quantities (spec kubernetes-cel.md 4.9). */

import type { Behaviour } from "../../data/kubernetes-version.js";
import type { Library } from "../declarations.js";
import { added, fn, isParsed, method, methodFn, overloadFn } from "../declare.js";
import { BOOL, DOUBLE, INT, opaqueType, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import { makeDouble, makeInt } from "../values/numbers.js";
import type { Result } from "../values/value.js";
import { approximate, compareAmounts, integerOf, signOf } from "./quantity-amount.js";
import { QuantityValue } from "./quantity-value.js";

const QUANTITY = opaqueType("kubernetes.Quantity");

type Quantity = QuantityValue;

const compare = (a: Quantity, b: Quantity): number => compareAmounts(a.amount, b.amount);
const isGreater = (a: Quantity, b: Quantity): boolean => compare(a, b) > 0;
const isLess = (a: Quantity, b: Quantity): boolean => compare(a, b) < 0;
const isInteger = ({ amount }: Quantity): boolean => integerOf(amount) !== undefined;

function asInteger({ amount }: Quantity): Result {
  const value = integerOf(amount);
  return value === undefined ? new CelError("cannot convert value to integer") : makeInt(value);
}

/** `quantity`, `isQuantity`, and arithmetic and comparison of quantities. */
export function quantityLibrary(behaviour: Behaviour): Library {
  const parse = (text: string): QuantityValue | CelError => QuantityValue.parse(text, behaviour);
  const ofInt = (value: number | bigint): QuantityValue => QuantityValue.ofInt(value, behaviour);
  return {
    name: "quantity",
    functions: added(
      "1.28",
      overloadFn("quantity", "string_to_quantity", [STRING], QUANTITY, parse),
      overloadFn("isQuantity", "is_quantity_string", [STRING], BOOL, isParsed(parse)),
      overloadFn("sign", "quantity_sign", [QUANTITY], INT, ({ amount }: Quantity) => signOf(amount)),
      methodFn("isGreaterThan", "quantity_is_greater_than", [QUANTITY, QUANTITY], BOOL, isGreater),
      methodFn("isLessThan", "quantity_is_less_than", [QUANTITY, QUANTITY], BOOL, isLess),
      methodFn("compareTo", "quantity_compare_to", [QUANTITY, QUANTITY], INT, compare),
      methodFn("asApproximateFloat", "quantity_get_float", [QUANTITY], DOUBLE, ({ amount }: Quantity) =>
        makeDouble(behaviour === "1.38" && amount.unscaled === 0n ? 0 : approximate(amount)),
      ),
      methodFn("asInteger", "quantity_get_int", [QUANTITY], INT, asInteger),
      methodFn("isInteger", "quantity_is_integer", [QUANTITY], BOOL, isInteger),
      fn(
        "add",
        method("quantity_add", [QUANTITY, QUANTITY], QUANTITY, (a: Quantity, b: Quantity) => a.plus(b)),
        method("quantity_add_int", [QUANTITY, INT], QUANTITY, (a: Quantity, b: number | bigint) => a.plus(ofInt(b))),
      ),
      fn(
        "sub",
        method("quantity_sub", [QUANTITY, QUANTITY], QUANTITY, (a: Quantity, b: Quantity) => a.minus(b)),
        method("quantity_sub_int", [QUANTITY, INT], QUANTITY, (a: Quantity, b: number | bigint) => a.minus(ofInt(b))),
      ),
    ),
  };
}
