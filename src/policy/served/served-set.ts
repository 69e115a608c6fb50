/** Policies that are asked together: one webhook asks all that want to be asked about the same. */
import type { ServedPolicy } from "./served-policy.js";

/** Which policies are asked together. */
export interface SetRoute {
  readonly hash: string;
  /** Ids, in the order in which they are asked. */
  readonly members: readonly string[];
}

/** A set that is served. */
export interface ServedSet {
  /** `set/<hash>`: as groups' members are addressed, so that it stands in a path. A group's member of that name goes first. */
  readonly id: string;
  /** Those that are served; at least one. */
  readonly members: readonly ServedPolicy[];
  /** Whether all of them usually answer at once. */
  readonly immediate: boolean;
}

/** The id of a set. */
export const setId = (hash: string): string => `set/${hash}`;

/** In place of a hash: all policies that are asked together with any others. */
export const EVERYBODY = "everybody";

/** The id of a set that a webhook may name: one of another moment perhaps. */
const ANY_SET = /^set\/[0-9a-f]{16}$/;

/**
 * The set of an id. Of one that nobody knows any more, or not yet, as after a restart, all are asked that may be in it: who was in it looks itself at what it is about, and is asked about
 * no less than before.
 */
export const findSet = (sets: ReadonlyMap<string, ServedSet>, id: string): ServedSet | undefined =>
  sets.get(id) ?? (ANY_SET.test(id) ? sets.get(setId(EVERYBODY)) : undefined);

/**
 * The sets, by id. Members that are not served are left out: whoever took them away has taken them out of the webhooks, too. A set without any is none: nobody is there who could
 * allow anything.
 */
export function servedSets(
  routes: Iterable<SetRoute>,
  entries: ReadonlyMap<string, ServedPolicy>,
): ReadonlyMap<string, ServedSet> {
  const sets = new Map<string, ServedSet>();
  for (const { hash, members } of routes) {
    const served = members.flatMap((id) => entries.get(id) ?? []);
    if (served.length === 0) continue;
    const id = setId(hash);
    sets.set(id, { id, members: served, immediate: served.every(({ policy }) => policy.immediate) });
  }
  return sets;
}
