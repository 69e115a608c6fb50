/** What Kubernetes' own list functions do (spec kubernetes-cel.md 4.4). Their element types are those of the first element only. */
import { add } from "../operators/arithmetic.js";
import { compare, equals } from "../operators/compare.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import type { Result, Value } from "../values/value.js";
import { BoundedWork } from "../values/work.js";

type List = readonly Value[];

/** Whether the value's kind has an order. */
const isComparable = (value: Value): boolean => compare(value, value) !== undefined;

/** `isSorted`: comparisons that fail count as sorted. */
export function isSorted(list: List): Result {
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
export const sumFrom =
  (zero: Value) =>
  (list: List): Result => {
    let sum: Result = zero;
    for (const element of list) {
      sum = isSmallInt(sum) && isSmallInt(element) ? addSmall(sum, element) : add(sum, element);
      if (sum instanceof CelError) return sum;
    }
    return sum;
  };

/** `min` (`sign` 1) and `max` (-1): the first of the extremes; what cannot be ordered with it neither replaces it nor is replaced. */
export const extreme =
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
export const indexOf = (list: List, wanted: Value): Result => list.findIndex(equalTo(wanted));

/** `lastIndexOf` on lists. */
export const lastIndexOf = (list: List, wanted: Value): Result => list.findLastIndex(equalTo(wanted));

/** `includes`: on a list an element, on anything else the value itself. */
export const includes = (target: Value, wanted: Value): Result =>
  Array.isArray(target) ? target.some(equalTo(wanted)) : equalTo(wanted)(target);
