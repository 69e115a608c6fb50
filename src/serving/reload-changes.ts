/** Changes by a reload: for the log, and for the decision whether to accept it. */

import type { ClusterNeed } from "../loader/index.js";
import type { WithoutCluster } from "../loader/policy-source.js";
import type { PolicySet } from "../policy/served/policy-set.js";

/** Most names in a log line. */
const MOST_NAMES = 20;

/**
 * Policies that answer now and would not after the reload. A policy missing from the configuration was removed on purpose.
 * @param goesByItself whether a policy's failure does not keep others from being served; default none
 */
export function newlyUnavailable(
  before: PolicySet,
  after: PolicySet,
  goesByItself: (id: string) => boolean = () => false,
): string[] {
  return [...after.entries.values()]
    .filter(({ id }) => !goesByItself(id))
    .filter(({ id, unavailable }) => unavailable !== undefined && before.entries.get(id)?.unavailable === undefined)
    .filter(({ id }) => before.entries.has(id))
    .map(({ id }) => id);
}

/**
 * The reason why policies would begin to fail without a cluster, with the documents to give instead; undefined when none would. Such a policy may go
 * from denying to allowing: its lookups fail, and its `failurePolicy` may be `Ignore`.
 */
export function newlyWithoutCluster(
  before: WithoutCluster | undefined,
  after: WithoutCluster | undefined,
): string | undefined {
  if (after === undefined) return undefined;
  const known = new Set(before?.needing.flatMap(needsOf));
  const begin = after.needing.filter((need) => needsOf(need).some((each) => !known.has(each)));
  if (begin.length === 0) return undefined;
  const each = begin.map(({ id, warning }) => `${id} ${warning?.message ?? "needs one, and could not be loaded"}`);
  return `${after.why}: ${each.join("; ")}`;
}

const needsOf = ({ id, requires }: ClusterNeed): readonly string[] => requires.map(({ what }) => `${id} ${what}`);

/** Describes added and removed ids. */
export function describeChange(
  before: PolicySet,
  after: PolicySet,
): { readonly added: string[]; readonly removed: string[] } {
  return { added: missingFrom(before, after), removed: missingFrom(after, before) };
}

function missingFrom(set: PolicySet, other: PolicySet): string[] {
  const names = [...other.entries.keys()].filter((id) => !set.entries.has(id));
  return names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES), "…"] : names;
}
