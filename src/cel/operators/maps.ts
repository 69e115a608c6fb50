/**
 * Maps of either representation (plain object or MapValue) behind one set of functions (spec kubernetes-cel.md 2.5).
 */
import { Interruption } from "../values/interruption.js";
import { keyOf } from "../values/map-key.js";
import { Uint } from "../values/uint.js";
import { MapValue, type Value } from "../values/value.js";
import { isPlainObject, nativeNameOf } from "./kind.js";

/** The number of entries; `undefined` when the value is not a map. */
export function sizeOfMap(map: Value): number | undefined {
  if (map instanceof MapValue) return map.size;
  if (isPlainObject(map)) return Object.keys(map).length;
  return undefined;
}

/** The entries of a map, in its order. */
export function* entriesOf(map: Value): Iterable<readonly [Value, Value]> {
  if (map instanceof MapValue) yield* map.entries();
  else {
    const object = map as { readonly [key: string]: Value };
    for (const key of Object.keys(object)) yield [key, object[key] as Value];
  }
}

/** The keys of a map, in its order. */
export function keysOf(map: Value): readonly Value[] {
  return map instanceof MapValue ? [...map.keys()] : Object.keys(map as object);
}

/** The value under a key: the exact key first, then the same number as another integer kind; `undefined` when absent. `map` is a map. */
export function findKey(map: Value, key: Value): Value | undefined {
  if (!(map instanceof MapValue)) {
    if (typeof key !== "string" || !Object.hasOwn(map as object, key)) return undefined;
    return (map as { readonly [key: string]: Value })[key];
  }
  const exact = map.get(key);
  if (exact !== undefined) return exact;
  const integer = integerOfDouble(key);
  return integer === undefined ? undefined : map.get(integer);
}

/** A double key also finds the entry of the integer it equals, within int64 and uint64. */
function integerOfDouble(key: Value): Value | undefined {
  const double = key instanceof Number ? key.valueOf() : typeof key === "number" ? key : undefined;
  if (double === undefined || !Number.isInteger(double)) return undefined;
  if (double < -(2 ** 63) || double >= 2 ** 64) return undefined;
  if (Number.isSafeInteger(double)) return double + 0;
  const big = BigInt(double);
  return double >= 2 ** 63 ? new Uint(big) : big;
}

/** Whether a value can be a key of a map made by an expression. */
export function isUsableKey(key: Value): boolean {
  return keyOf(key) !== undefined;
}

/** Ends the evaluation, as the reference's does at a key of the wrong kind, with this text. */
export function badKey(key: Value): never {
  const text = `internal error: runtime error: hash of unhashable type ${nativeNameOf(key)}`;
  throw new Interruption("fault", text);
}
