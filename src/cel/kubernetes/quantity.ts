/** Quantities (spec kubernetes-cel.md 4.9). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { BOOL, DOUBLE, INT, opaqueType, STRING } from "../types.js";

const QUANTITY = opaqueType("kubernetes.Quantity");

/** `quantity`, `isQuantity`, and arithmetic and comparison of quantities. */
export const quantityLibrary: Library = {
  name: "quantity",
  functions: added(
    128,
    fn("quantity", overload("string_to_quantity", [STRING], QUANTITY)),
    fn("isQuantity", overload("is_quantity_string", [STRING], BOOL)),
    fn("sign", overload("quantity_sign", [QUANTITY], INT)),
    fn("isGreaterThan", method("quantity_is_greater_than", [QUANTITY, QUANTITY], BOOL)),
    fn("isLessThan", method("quantity_is_less_than", [QUANTITY, QUANTITY], BOOL)),
    fn("compareTo", method("quantity_compare_to", [QUANTITY, QUANTITY], INT)),
    fn("asApproximateFloat", method("quantity_get_float", [QUANTITY], DOUBLE)),
    fn("asInteger", method("quantity_get_int", [QUANTITY], INT)),
    fn("isInteger", method("quantity_is_integer", [QUANTITY], BOOL)),
    fn(
      "add",
      method("quantity_add", [QUANTITY, QUANTITY], QUANTITY),
      method("quantity_add_int", [QUANTITY, INT], QUANTITY),
    ),
    fn(
      "sub",
      method("quantity_sub", [QUANTITY, QUANTITY], QUANTITY),
      method("quantity_sub_int", [QUANTITY, INT], QUANTITY),
    ),
  ),
};
