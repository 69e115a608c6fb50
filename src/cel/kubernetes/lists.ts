/** Kubernetes' own list functions (spec kubernetes-cel.md 4.4). */
import type { FunctionDeclaration, Library } from "../declarations.js";
import { added, fn, method, methodFn } from "../declare.js";
import { add } from "../operators/arithmetic.js";
import { compare, equals } from "../operators/compare.js";
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
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { makeDouble } from "../values/numbers.js";
import { Duration } from "../values/time.js";
import { Uint } from "../values/uint.js";
import type { Result, Value } from "../values/value.js";
import { BoundedWork } from "../values/work.js";

// Kubernetes' own list functions (spec kubernetes-cel.md 4.4). Their element types are those of the first element only.

type List = readonly Value[];

/** Whether the value's kind has an order. */
const isComparable = (value: Value): boolean => compare(value, value) !== undefined;

/** `isSorted`: comparisons that fail count as sorted. */
function isSorted(list: List): Result {
  for (let i = 0; i < list.length; i++) {
    if (!isComparable(list[i] as Value)) return noSuchOverload();
    if (i === 0) continue;
    const order = compare(list[i - 1] as Value, list[i] as Value);
    if (typeof order === "number" && order > 0) return false;
  }
  return true;
}

const isSmallInt = (value: Value): value is number => typeof value === "number" && Number.isSafeInteger(value);

/** The sum of two ints as a number, where that is exact. */
const addSmall = (a: number, b: number): Result => (Number.isSafeInteger(a + b) ? a + b : add(a, b));

/** `sum`, starting with the kind's zero. */
const sumFrom =
  (zero: Value) =>
  (list: List): Result => {
    let sum: Result = zero;
    for (const element of list) {
      sum = isSmallInt(sum) && isSmallInt(element) ? addSmall(sum, element) : add(sum, element);
      if (sum instanceof CelError) return sum;
    }
    return sum;
  };

/** `min` (`sign` 1) and `max` (-1): the first of the extremes; elements that cannot be ordered with it neither replace it nor are replaced. */
const extreme =
  (name: "min" | "max", sign: 1 | -1) =>
  (list: List): Result => {
    let best: Value | undefined;
    for (const element of list) {
      if (!isComparable(element)) return noSuchOverload();
      const order = best === undefined ? sign : compare(best, element);
      if (typeof order === "number" && order * sign > 0) best = element;
    }
    return best ?? new CelError(`${name} called on empty list`);
  };

/** Whether an element equals a value: every element at most once, so that the work is bounded by the list's own size. */
const equalTo = (wanted: Value): ((element: Value) => boolean) => {
  const work = new BoundedWork(Number.POSITIVE_INFINITY);
  return (element) => equals(element, wanted, work) === true;
};

/** `indexOf` on lists. */
const indexOf = (list: List, wanted: Value): Result => list.findIndex(equalTo(wanted));

/** `lastIndexOf` on lists. */
const lastIndexOf = (list: List, wanted: Value): Result => list.findLastIndex(equalTo(wanted));

/** `includes`: on a list an element, on anything else the value itself. */
const includes = (target: Value, wanted: Value): Result =>
  Array.isArray(target) ? target.some(equalTo(wanted)) : equalTo(wanted)(target);

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
