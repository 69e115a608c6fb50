/** What a reload changes: for the log, and for the decision whether to take it. */

import type { ClusterNeed } from "../loader/index.js";
import type { WithoutCluster } from "../loader/policy-source.js";
import type { PolicySet } from "../policy/served/policy-set.js";

/** Most names that are listed: a log line is for reading. */
const MOST_NAMES = 20;

/**
 * Policies that answer now and would not after the reload. One that is gone from the configuration was removed on purpose.
 * @param goesByItself whether a policy keeps no others from being served; default none
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
 * Why policies would begin to fail for want of a cluster, and what to write down instead; undefined when none would. One that begins to ask may go
 * from denying to allowing: who asks for what nobody has fails, and its `failurePolicy` may be `Ignore`.
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

/** Ids that came and went. */
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
