/** JSON as Go reads it: every number is a double. */
import type { Value } from "../../cel/index.js";
import { doublesInSteps, withDoubles } from "../../data/doubles.js";
import { setKey } from "../../data/plain-object.js";
import { isObject } from "../../kubernetes/object.js";
import { SLICE_MS, type TurnGiver } from "../../policy/turns.js";

/**
 * Values with doubles in place of integers. What holds no integer is shared with the original, because reviews of many MiB are mostly texts; what is made of
 * a review's values is kept as long as they are, for all policies that are asked about it.
 */
export class Doubles {
  readonly #made = new WeakMap<object, Value>();
  readonly #now: () => number;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The value with doubles. The original must not change any more. */
  of(value: unknown): Value {
    if (typeof value !== "object" || value === null) return withDoubles(value) as Value;
    const known = this.#made.get(value);
    if (known !== undefined) return known;
    const made = withDoubles(value) as Value;
    this.#made.set(value, made);
    return made;
  }

  /**
   * Makes the doubles of a value that {@link of} will be asked for, in turns on the main thread when that takes long.
   * @param isGone whether nobody waits for them any more
   * @returns when they are made, or nobody waits any more; undefined: they are
   */
  prepare(value: unknown, turns: TurnGiver, isGone: () => boolean): Promise<void> | undefined {
    if (typeof value !== "object" || value === null || this.#made.has(value)) return undefined;
    const steps = doublesInSteps(value, (part) => this.#made.get(part));
    const goOn = (): Promise<void> | undefined => {
      const ends = this.#now() + SLICE_MS;
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done === true) {
          this.#made.set(value, step.value as Value);
          return undefined;
        }
        if (this.#now() >= ends) return turns.next().then(() => (isGone() ? undefined : goOn()));
      }
    };
    return goOn();
  }

  /** The same of a request, whose large members may be known. */
  ofMembers(value: unknown): Value {
    if (!isObject(value) || this.#made.has(value)) return this.of(value);
    const copy: Record<string, Value> = {};
    for (const key of Object.keys(value)) setKey(copy, key, this.of(value[key]));
    return copy;
  }
}
