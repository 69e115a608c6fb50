/** JSON as Go decodes it: every number is a double. */
import type { Value } from "../../cel/index.js";
import { doublesInSteps, withDoubles } from "../../data/doubles.js";
import { setKey } from "../../data/plain-object.js";
import { isObject } from "../../kubernetes/object.js";
import { SLICE_MS, type TurnGiver } from "../../policy/turns.js";

/**
 * Values with doubles in place of integers. Parts without integers are shared with the original, because reviews of many MiB are mostly texts; the copies of
 * a review's values are kept as long as those, for all policies that get them.
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
   * Makes the doubles of a value for a later {@link of}, in turns on the main thread when that takes long.
   * @param isGone whether the caller waits no longer
   * @returns when they are made, or the caller waits no longer; undefined: they exist already
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

  /** The same for a request, whose large members may have their doubles already. */
  ofMembers(value: unknown): Value {
    if (!isObject(value) || this.#made.has(value)) return this.of(value);
    const copy: Record<string, Value> = {};
    for (const key of Object.keys(value)) setKey(copy, key, this.of(value[key]));
    return copy;
  }
}
