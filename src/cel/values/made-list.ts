import type { Value } from "./value.js";

/**
 * A list that the expression has made, where an environment marks such lists (`EnvironmentOptions.marksLists`): their items are treated differently outside
 * of CEL.
 */
export class MadeList extends Array<Value> {
  /** A list with the items of `list`. */
  static containing(list: readonly Value[]): MadeList {
    const made = new this(list.length);
    for (let i = 0; i < list.length; i++) made[i] = list[i] as Value;
    return made;
  }
}

/** A list that `+` has made of two: the reference has a class of its own for it. */
export class ListSum extends MadeList {}
