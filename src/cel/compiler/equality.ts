/** `==` and `!=` as generated code calls them, where it does not compare in place. */
import { equalityCost } from "../cost/runtime-cost.js";
import { equals } from "../operators/compare.js";
import { isPlainObject } from "../operators/kind.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { MapValue, type Result } from "../values/value.js";
import { type Meter, spend } from "./meter.js";

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
