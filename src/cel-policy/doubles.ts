/** JSON as Go reads it: every number is a double. */
import type { Value } from "../cel/index.js";
import { withDoubles } from "../data/doubles.js";
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
    if (typeof value !== "object" || value === null) return withDoubles(value) as Value;
    const known = this.#made.get(value);
    if (known !== undefined) return known;
    const made = withDoubles(value) as Value;
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
