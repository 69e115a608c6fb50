/** What a reload changes: for the log, and for the decision whether to take it. */
import type { PolicySet } from "../../evaluation/policy-set.js";

/** Most names that are listed: a log line is for reading. */
const MOST_NAMES = 20;

/** Policies that answer now and would not after the reload. One that is gone from the configuration was removed on purpose. */
export function newlyUnavailable(before: PolicySet, after: PolicySet): string[] {
  return [...after.entries.values()]
    .filter(({ id, unavailable }) => unavailable !== undefined && before.entries.get(id)?.unavailable === undefined)
    .filter(({ id }) => before.entries.has(id))
    .map(({ id }) => id);
}

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
