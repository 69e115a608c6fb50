/** Optional values (spec kubernetes-cel.md 4.6). */
import type { Library } from "../declarations.js";
import { added, fn, method, methodFn, overloadFn } from "../declare.js";
import { sizeOfMap } from "../operators/maps.js";
import { BOOL, listType, optionalType, typeParam } from "../types.js";
import { CelError } from "../values/cel-error.js";
import { Duration, Timestamp } from "../values/time.js";
import { FIRST_SECOND } from "../values/timestamp-text.js";
import { Uint } from "../values/uint.js";
import { ObjectValue, Optional, type Result, type Value } from "../values/value.js";
import { printedValue } from "./printed-value.js";

const V = typeParam("V");
const OPTIONAL = optionalType(V);

/** Whether a value is its kind's zero (spec kubernetes-cel.md 2.1); types, optionals and library values have none, and most objects. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === "") return true;
  if (value instanceof Number) return value.valueOf() === 0;
  if (value instanceof Uint) return value.value === 0;
  if (value instanceof Duration) return value.nanos === 0;
  if (value instanceof Timestamp) return value.seconds === FIRST_SECOND && value.nanos === 0;
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length === 0;
  return value instanceof ObjectValue ? value.isZero : sizeOfMap(value) === 0;
}

function unwrap(list: readonly Value[]): Result {
  const values: Value[] = [];
  for (const element of list) {
    if (!(element instanceof Optional)) return new CelError(`value ${printedValue(element)} is not optional`);
    if (element.value !== undefined) values.push(element.value);
  }
  return values;
}

const optionalOf = (value: Value | undefined): Optional => (value === undefined ? Optional.NONE : Optional.of(value));

/**
 * The functions of optionals. The arguments of `or` and `orValue` are evaluated only when needed.
 */
export const optionalLibrary: Library = {
  name: "optionals",
  functions: added(
    "1.28",
    overloadFn("optional.of", "optional_of", [V], OPTIONAL, optionalOf),
    overloadFn("optional.ofNonZeroValue", "optional_ofNonZeroValue", [V], OPTIONAL, (value: Value) =>
      isZero(value) ? Optional.NONE : Optional.of(value),
    ),
    overloadFn("optional.none", "optional_none", [], OPTIONAL, () => Optional.NONE),
    methodFn("value", "optional_value", [OPTIONAL], V, ({ value }: Optional) =>
      value === undefined ? new CelError("optional.none() dereference") : value,
    ),
    methodFn("hasValue", "optional_hasValue", [OPTIONAL], BOOL, ({ value }: Optional) => value !== undefined),
    fn("or", {
      ...method("optional_or_optional", [OPTIONAL, OPTIONAL], OPTIONAL, (first: Optional, second: Optional) =>
        first.value === undefined ? second : first,
      ),
      lazy: "or",
    }),
    fn("orValue", {
      ...method("optional_orValue_value", [OPTIONAL, V], V, ({ value }: Optional, other: Value) =>
        value === undefined ? other : value,
      ),
      lazy: "orValue",
    }),
    methodFn("first", "list_first", [listType(V)], OPTIONAL, (list: readonly Value[]) => optionalOf(list[0])),
    methodFn("last", "list_last", [listType(V)], OPTIONAL, (list: readonly Value[]) => optionalOf(list.at(-1))),
    overloadFn("optional.unwrap", "optional_unwrap", [listType(OPTIONAL)], listType(V), unwrap),
    methodFn("unwrapOpt", "optional_unwrapOpt", [listType(OPTIONAL)], listType(V), unwrap),
  ),
};
