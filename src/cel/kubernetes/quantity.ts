/** Quantities (spec kubernetes-cel.md 4.9). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { BOOL, DOUBLE, INT, opaqueType, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import { makeDouble, makeInt } from "../values/numbers.js";
import type { Result } from "../values/value.js";
import { approximate, compareAmounts, integerOf, signOf } from "./quantity-amount.js";
import { QuantityValue } from "./quantity-value.js";

const QUANTITY = opaqueType("kubernetes.Quantity");

type Quantity = QuantityValue;

const compare = (a: Quantity, b: Quantity): number => compareAmounts(a.amount, b.amount);

function asInteger({ amount }: Quantity): Result {
  const value = integerOf(amount);
  return value === undefined ? new CelError("cannot convert value to integer") : makeInt(value);
}

/** `quantity`, `isQuantity`, and arithmetic and comparison of quantities. */
export const quantityLibrary: Library = {
  name: "quantity",
  functions: added(
    "1.28",
    fn("quantity", overload("string_to_quantity", [STRING], QUANTITY, QuantityValue.parse)),
    fn(
      "isQuantity",
      overload(
        "is_quantity_string",
        [STRING],
        BOOL,
        (text: string) => !(QuantityValue.parse(text) instanceof CelError),
      ),
    ),
    fn(
      "sign",
      overload("quantity_sign", [QUANTITY], INT, ({ amount }: Quantity) => signOf(amount)),
    ),
    fn(
      "isGreaterThan",
      method("quantity_is_greater_than", [QUANTITY, QUANTITY], BOOL, (a: Quantity, b: Quantity) => compare(a, b) > 0),
    ),
    fn(
      "isLessThan",
      method("quantity_is_less_than", [QUANTITY, QUANTITY], BOOL, (a: Quantity, b: Quantity) => compare(a, b) < 0),
    ),
    fn("compareTo", method("quantity_compare_to", [QUANTITY, QUANTITY], INT, compare)),
    fn(
      "asApproximateFloat",
      method("quantity_get_float", [QUANTITY], DOUBLE, ({ amount }: Quantity) => makeDouble(approximate(amount))),
    ),
    fn("asInteger", method("quantity_get_int", [QUANTITY], INT, asInteger)),
    fn(
      "isInteger",
      method("quantity_is_integer", [QUANTITY], BOOL, ({ amount }: Quantity) => integerOf(amount) !== undefined),
    ),
    fn(
      "add",
      method("quantity_add", [QUANTITY, QUANTITY], QUANTITY, (a: Quantity, b: Quantity) => a.plus(b)),
      method("quantity_add_int", [QUANTITY, INT], QUANTITY, (a: Quantity, b: number | bigint) =>
        a.plus(QuantityValue.ofInt(b)),
      ),
    ),
    fn(
      "sub",
      method("quantity_sub", [QUANTITY, QUANTITY], QUANTITY, (a: Quantity, b: Quantity) => a.minus(b)),
      method("quantity_sub_int", [QUANTITY, INT], QUANTITY, (a: Quantity, b: number | bigint) =>
        a.minus(QuantityValue.ofInt(b)),
      ),
    ),
  ),
};
