import type { Value } from "./value.js";

/**
 * A list that `+` has made of two, where an environment tells it from others (`EnvironmentOptions.keepsSums`): the reference has a class of its own for it,
 * and what becomes of its items outside of CEL differs from what becomes of those of a literal. Lists made of it are ordinary ones.
 */
export class ListSum extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** The sum with the items of `list`. */
  static containing(list: readonly Value[]): ListSum {
    const sum = new ListSum(list.length);
    for (let i = 0; i < list.length; i++) sum[i] = list[i] as Value;
    return sum;
  }
}
