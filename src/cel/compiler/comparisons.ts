/** Equality and order as generated code calls them, where it does not compare in place. */
import { equalityCost } from "../cost/runtime-cost.js";
import { compare, equals } from "../operators/compare.js";
import { isPlainObject } from "../operators/kind.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { MapValue, type Result } from "../values/value.js";
import { type Meter, spend } from "./meter.js";
import { weigh } from "./work.js";

const isError = (value: Result): value is CelError => value instanceof CelError;

/** `==` and `!=` on anything, by sizes of one kind. In `meter.steps`: the cost. */
export function equality(sizeOf: (value: Result) => number) {
  function equal(a: Result, b: Result, meter: Meter): Result {
    meter.steps = equalityCost(a, b, false, meter, sizeOf);
    if (isError(a)) return a;
    if (isError(b)) return b;
    const result = equals(a, b, meter);
    spend(meter, 0);
    return result;
  }
  /** The same where the left side's type is a struct: comparing it with a value that is not a map is an error, except for null. */
  function equalStruct(a: Result, b: Result, meter: Meter): Result {
    const result = equal(a, b, meter);
    if (result !== false || b === null || !isPlainObject(a)) return result;
    return isPlainObject(b) || b instanceof MapValue ? false : noSuchOverload();
  }
  function notEqual(a: Result, b: Result, meter: Meter): Result {
    const cost = equalityCost(a, b, true, meter, sizeOf);
    const result = equal(a, b, meter);
    meter.steps = cost;
    return isError(a) || isError(b) ? result : result !== true;
  }
  return { equal, equalStruct, notEqual };
}

const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  "_<_": (order) => order < 0,
  "_<=_": (order) => order <= 0,
  "_>_": (order) => order > 0,
  "_>=_": (order) => order >= 0,
};

/** `<`, `<=`, `>`, `>=` on anything. */
export function ordered(operator: string, a: Result, b: Result, meter: Meter): Result {
  if (isError(a)) return a;
  if (isError(b)) return b;
  // Accounts for the comparison, and for measuring its cost.
  if (typeof a === "string" && typeof b === "string") spend(meter, 4 * Math.min(a.length, b.length));
  else spend(meter, weigh(a, meter) + weigh(b, meter));
  const order = compare(a, b);
  if (order === undefined) return noSuchOverload(operator);
  return isError(order) ? order : (ORDERS[operator] as (order: number) => boolean)(order);
}

/** {@link ordered} by the rules of the newest releases of the reference: NaN comes neither before nor after anything that has an order. */
export function orderedNumbers(operator: string, a: Result, b: Result, meter: Meter): Result {
  const unordered = !isError(a) && !isError(b) && (Number.isNaN(a) || (Number.isNaN(b) && compare(a, a) !== undefined));
  return unordered ? false : ordered(operator, a, b, meter);
}
