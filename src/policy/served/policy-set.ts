/** All served policies by id, each with its settings for the evaluator. A set is built as a whole, never changed, and swapped as a whole. */
import type { ServedPolicy } from "./served-policy.js";
import { type ServedSet, type SetRoute, servedSets } from "./served-set.js";

export type { ServedPolicy, ShadowVersion } from "./served-policy.js";

/** A set of policies that is served. */
export interface PolicySet {
  /** By id; iteration order is the order of the configuration. */
  readonly entries: ReadonlyMap<string, ServedPolicy>;
  /** The number of the reload, from 1. */
  readonly generation: number;
  /** Sets of policies that are evaluated together, by id. */
  readonly sets: ReadonlyMap<string, ServedSet>;
}

/**
 * A set of the given entries.
 * @param routes the sets of policies that are evaluated together
 */
export function createPolicySet(
  entries: Iterable<ServedPolicy>,
  generation = 1,
  routes: Iterable<SetRoute> = [],
): PolicySet {
  const byId = new Map(Array.from(entries, (entry) => [entry.id, entry]));
  return { entries: byId, generation, sets: servedSets(routes, byId) };
}
