/** The identity of keys of a map. */
import { Duration, Timestamp } from "./time.js";
import { TypeValue } from "./type-value.js";
import { Uint } from "./uint.js";

/** The property of a library value that gives its bucket. */
export const BUCKET: unique symbol = Symbol("bucket");

/**
 * The bucket of a key: strings, bools, ints and null are themselves; a uint is the int of its value; a double gets a bucket of its own kind, and so do
 * times. Library values give their own; lists and maps get a new one each time, so they are never found again. `undefined` for values that cannot be a key,
 * such as bytes.
 */
export function keyOf(key: unknown): unknown {
  switch (typeof key) {
    case "string":
    case "boolean":
    case "bigint":
      return key;
    case "number":
      return Number.isSafeInteger(key) ? key : doubleKey(key);
    default:
      if (key === null) return null;
      if (key instanceof Number) return doubleKey(key.valueOf());
      if (key instanceof Uint) return key.value;
      // For the reference, times with an offset are different keys, even if they are equal.
      if (key instanceof Timestamp && key.offsetSeconds !== 0) return key;
      if (key instanceof Timestamp) return `\u0000t:${key.seconds}.${key.nanos}`;
      if (key instanceof Duration) return `\u0000g:${key.nanos}`;
      if (key instanceof TypeValue) return `\u0000y:${key.name}`;
      if (key instanceof Uint8Array) return undefined;
      return BUCKET in (key as object) ? (key as { readonly [BUCKET]: unknown })[BUCKET] : Symbol("key");
  }
}

/** The bucket of a double: the two zeros are one key, and NaN is never found again. */
const doubleKey = (key: number): unknown => (Number.isNaN(key) ? Symbol("NaN") : `\u0000d:${key + 0}`);
