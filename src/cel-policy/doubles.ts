/** JSON as Go reads it: every number is a double. */
import type { Value } from "../cel/index.js";
import { setKey } from "../data/plain-object.js";
import { isObject } from "../kubernetes/object.js";

/**
 * Values with doubles in place of integers. What holds no integer is shared with the original, because reviews of many MiB are mostly texts; what is made of
 * a review's values is kept as long as they are, for all policies that are asked about it.
 */
export class Doubles {
  readonly #made = new WeakMap<object, Value>();

  /** The value with doubles. The original must not change any more. */
  of(value: unknown): Value {
    if (typeof value !== "object" || value === null) return withDoubles(value);
    const known = this.#made.get(value);
    if (known !== undefined) return known;
    const made = withDoubles(value);
    this.#made.set(value, made);
    return made;
  }

  /** The same of a request, whose large members may be known. */
  ofMembers(value: unknown): Value {
    if (!isObject(value)) return this.of(value);
    const copy: Record<string, Value> = {};
    for (const key of Object.keys(value)) setKey(copy, key, this.of(value[key]));
    return copy;
  }
}

/** The value with doubles, made once: for what is looked at once. The original must not change any more. */
export function withDoubles(value: unknown): Value {
  switch (typeof value) {
    case "number":
    case "bigint": {
      const double = Number(value);
      return Number.isSafeInteger(double) ? (Object(double) as Value) : double;
    }
    case "object":
      if (Array.isArray(value)) return list(value);
      return value === null || value instanceof Number ? (value as Value) : map(value as Container);
    default:
      return value as Value;
  }
}

type Container = Readonly<Record<string, unknown>>;

function list(value: readonly unknown[]): Value {
  let copy: unknown[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    const made = withDoubles(item);
    if (made === item) continue;
    copy ??= value.slice();
    copy[index] = made;
  }
  return (copy ?? value) as Value;
}

function map(value: Container): Value {
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    const item = value[key];
    if (typeof item === "string") continue;
    const made = withDoubles(item);
    if (made === item) continue;
    copy ??= { ...value };
    setKey(copy, key, made);
  }
  return (copy ?? value) as Value;
}
