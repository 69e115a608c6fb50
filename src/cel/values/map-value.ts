import { MARK } from "./mark.js";
import { Duration, Timestamp } from "./time.js";
import { TypeValue } from "./type-value.js";
import { Uint } from "./uint.js";
import type { Value } from "./value.js";

/**
 * A map made by an expression, or bound with keys that are not all strings: insertion order, keys int, uint, double, bool and string.
 * Int and uint keys of equal value share one entry; a double key keeps its own (spec kubernetes-cel.md 2.5 and 9.1).
 */
export class MapValue {
  get [MARK](): true {
    return true;
  }

  /** Entries by normalised key (see {@link keyOf}); each holds the key as it was given first and its value. */
  private readonly entriesByKey = new Map<unknown, readonly [Value, Value]>();

  /** The number of entries. */
  get size(): number {
    return this.entriesByKey.size;
  }

  /** Sets an entry; only while the map is being built. The key must be a usable one: `keyOf(key) !== undefined`. */
  set(key: Value, value: Value): void {
    const normalised = keyOf(key);
    const before = this.entriesByKey.get(normalised);
    this.entriesByKey.set(normalised, [before === undefined ? key : before[0], value]);
  }

  /** Removes an entry; only while the map is being built. */
  delete(key: Value): void {
    this.entriesByKey.delete(keyOf(key));
  }

  /** The value under exactly this key or its int/uint equal; `undefined` when absent. A double looks up its own key only. */
  get(key: Value): Value | undefined {
    return this.entriesByKey.get(keyOf(key))?.[1];
  }

  /** The keys, as given, in insertion order. */
  *keys(): Iterable<Value> {
    for (const [key] of this.entriesByKey.values()) yield key;
  }

  /** The entries in insertion order. */
  entries(): Iterable<readonly [Value, Value]> {
    return this.entriesByKey.values();
  }
}

/**
 * The bucket of a key: strings, bools, ints and null are themselves; a uint is the int of its value; a double gets a bucket of its own kind, and so do
 * times. Lists, maps and library values are keys by identity: nothing looks them up. `undefined` for bytes, which cannot be a key.
 */
export function keyOf(key: Value): unknown {
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
      // The reference takes times with an offset for different ones, however equal.
      if (key instanceof Timestamp && key.offsetSeconds !== 0) return key;
      if (key instanceof Timestamp) return `\u0000t:${key.seconds}.${key.nanos}`;
      if (key instanceof Duration) return `\u0000g:${key.nanos}`;
      if (key instanceof TypeValue) return `\u0000y:${key.name}`;
      return key instanceof Uint8Array ? undefined : key;
  }
}

/** The two zeros are one key; NaN is none that could be found again. */
const doubleKey = (key: number): unknown => (Number.isNaN(key) ? Symbol("NaN") : `\u0000d:${key + 0}`);
