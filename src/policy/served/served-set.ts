/** Policies that are evaluated together: one webhook for all policies with the same rules. */
import type { Policy } from "../policy.js";
import type { ServedPolicy } from "./served-policy.js";

/** The members of a set. */
export interface SetRoute {
  readonly hash: string;
  /** Ids, in the order of their evaluation. */
  readonly members: readonly string[];
  /** Whether they mutate, one after the other in one pass; absent: they validate. */
  readonly mutates?: boolean;
}

/** A set that is served. */
export interface ServedSet {
  /** `set/<hash>`: the form of a group member's id, which fits into a path. A group's member of that name takes precedence. */
  readonly id: string;
  /** Served policies of the set; at least one. */
  readonly members: readonly ServedPolicy[];
  /** Whether all of them usually answer at once. */
  readonly immediate: boolean;
  /** Whether its answer may have a patch: then those of its policies that mutate are one member. Absent: it may not. */
  readonly mutates?: boolean;
}

/** The id of a set. */
export const setId = (hash: string): string => `set/${hash}`;

/** In place of a hash: all policies that belong to any set. */
export const EVERYBODY = "everybody";

/** The id of a set that a webhook may name: perhaps one of an older or newer set. */
const ANY_SET = /^set\/[0-9a-f]{16}$/;

/**
 * Finds the set of an id. For an id that is no longer known, or not yet, as after a restart, all policies that may be in it are evaluated: each
 * checks by itself whether it matches the request, so that none is skipped.
 */
export const findSet = (sets: ReadonlyMap<string, ServedSet>, id: string): ServedSet | undefined =>
  sets.get(id) ?? (ANY_SET.test(id) ? sets.get(setId(EVERYBODY)) : undefined);

/**
 * Makes the sets, by id. Members that are not served are left out: they were taken out of the webhooks as well. A set without members is left out: no
 * policy could allow anything.
 */
export function servedSets(
  routes: Iterable<SetRoute>,
  entries: ReadonlyMap<string, ServedPolicy>,
): ReadonlyMap<string, ServedSet> {
  const sets = new Map<string, ServedSet>();
  for (const { hash, members, mutates = false } of routes) {
    const found = members.flatMap((id) => entries.get(id) ?? []);
    const served = mutates ? inOnePass(found) : found;
    if (served.length === 0) continue;
    const id = setId(hash);
    sets.set(id, { id, members: served, immediate: served.every(({ policy }) => policy.immediate), mutates });
  }
  return sets;
}

/** The id of MutatingAdmissionPolicies that one webhook asks, for metrics. */
const MUTATING_POLICIES = "mutatingadmissionpolicies";

/** The members with those that mutate as one; the others, which could not be loaded, deny. */
function inOnePass(served: readonly ServedPolicy[]): readonly ServedPolicy[] {
  const mutating = served.filter(({ policy }) => policy.inOnePass !== undefined);
  const [first, ...more] = mutating;
  if (first?.policy.inOnePass === undefined || more.length === 0) return served;
  const others: readonly Policy[] = more.map(({ policy }) => policy);
  const policy = first.policy.inOnePass(MUTATING_POLICIES, others);
  const asks = [...new Set(mutating.flatMap((each) => each.asks ?? []))];
  const together = { id: MUTATING_POLICIES, policy, mode: first.mode, allowedToMutate: true, asks };
  return [together, ...served.filter((each) => !mutating.includes(each))];
}
