/** Kubernetes' own list functions (spec kubernetes-cel.md 4.4). */
import type { FunctionDeclaration, Library } from "../declarations.js";
import { added, fn, method, methodFn } from "../declare.js";
import {
  BOOL,
  DOUBLE,
  DURATION,
  DYN,
  formatType,
  INT,
  listType,
  ORDERED_TYPES,
  type Type,
  typeParam,
  UINT,
} from "../types.js";
import { makeDouble } from "../values/numbers.js";
import { Duration } from "../values/time.js";
import { Uint } from "../values/uint.js";
import type { Value } from "../values/value.js";
import { extreme, includes, indexOf, isSorted, lastIndexOf, sumFrom } from "./list-functions.js";

const A = typeParam("A");

/** The element types with an order, under the names that overload ids have for them. */
const ordered = ORDERED_TYPES.map((type) => [formatType(type), type] as const);

/** The element kinds that can be summed, with the sum of none. */
const summable: readonly (readonly [string, Type, Value])[] = [
  ["int", INT, 0],
  ["uint", UINT, new Uint(0)],
  ["double", DOUBLE, makeDouble(0)],
  ["duration", DURATION, new Duration(0)],
];

const extremeOf = (name: "min" | "max", sign: 1 | -1): FunctionDeclaration => {
  const implementation = extreme(name, sign);
  return fn(
    name,
    ...ordered.map(([kind, type]) => method(`list_${kind}_${name}_${kind}`, [listType(type)], type, implementation)),
  );
};

/** `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf` and `includes`. */
export const kubernetesListsLibrary: Library = {
  name: "kubernetes-lists",
  functions: [
    fn(
      "isSorted",
      ...ordered.map(([kind, type]) => method(`list_${kind}_is_sorted_bool`, [listType(type)], BOOL, isSorted)),
    ),
    fn(
      "sum",
      ...summable.map(([kind, type, zero]) =>
        method(`list_${kind}_sum_${kind}`, [listType(type)], type, sumFrom(zero)),
      ),
    ),
    extremeOf("max", -1),
    extremeOf("min", 1),
    methodFn("indexOf", "list_a_index_of_int", [listType(A), A], INT, indexOf),
    methodFn("lastIndexOf", "list_a_last_index_of_int", [listType(A), A], INT, lastIndexOf),
    ...added("1.37", methodFn("includes", "list_includes_dyn_dyn", [DYN, DYN], BOOL, includes)),
  ],
};
