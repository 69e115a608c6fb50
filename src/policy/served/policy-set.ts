/** Everything that is served: policies by id, each with what the evaluator must know about it. Built whole, never changed, swapped whole. */
import type { ServedPolicy } from "./served-policy.js";
import { type ServedSet, type SetRoute, servedSets } from "./served-set.js";

export type { ServedPolicy, ShadowVersion } from "./served-policy.js";

/** A set of policies that is served. */
export interface PolicySet {
  /** By id; iteration order is the order of the configuration. */
  readonly entries: ReadonlyMap<string, ServedPolicy>;
  /** Counts up with every reload, from 1. */
  readonly generation: number;
  /** Policies that are asked together, by the id of their set. */
  readonly sets: ReadonlyMap<string, ServedSet>;
}

/**
 * A set of the given entries.
 * @param routes which of them are asked together
 */
export function createPolicySet(
  entries: Iterable<ServedPolicy>,
  generation = 1,
  routes: Iterable<SetRoute> = [],
): PolicySet {
  const byId = new Map(Array.from(entries, (entry) => [entry.id, entry]));
  return { entries: byId, generation, sets: servedSets(routes, byId) };
}
