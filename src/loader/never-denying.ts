/** Warnings about policies that can never deny: what is green by accident is worse than nothing. */
import type { GroupEntry, PolicyEntry, Problem } from "../config/index.js";
import type { Policy } from "../policy/index.js";

/** Most names in a warning. */
const MAX_NAMES = 5;

/** The warning about an entry with policies that can never deny, at the key of its kind; none where its actions are written there. */
export function neverDenyingWarning(entry: Exclude<PolicyEntry, GroupEntry>, policy: Policy): readonly Problem[] {
  const { names, of } = policy.neverDenying ?? { names: [], of: 0 };
  if (names.length === 0 || actionsOf(entry) !== undefined) return [];
  const which = names.length === of ? "" : `${names.length} of ${of} policies: `;
  const message = `${which}${namesText(names)} can never deny: without Deny among their validationActions they only warn, or write to the audit log`;
  return [entry.origin.warning([entry.kind], message, undefined, { code: "POLICY_NEVER_DENIES", hint: ENTRY_HINT })];
}

const ENTRY_HINT =
  "to deny, write `validationActions: [Deny]` here, beside `resource:`; if it is meant, write the actions there, such as `[Audit]`, or `policyMode: monitor`";

/** The warning about a member that can never deny, and the entry that it is. */
export function memberWarning(group: GroupEntry, index: number, entry: PolicyEntry, policy: Policy): Problem {
  const name = group.members[index]?.name ?? "";
  const names = policy.neverDenying?.names ?? [];
  const why = names.length === 0 ? "" : `: no Deny is among the validationActions of ${namesText(names)}`;
  const message = `the member ${name} can never deny, so that the expression always takes ${name}() as true${why}`;
  const isOwn = entry.id === `${group.id}/${name}`;
  const where = isOwn ? "in this member, beside `resource:`" : `in the entry ${entry.id}`;
  const hint =
    entry.kind === "group"
      ? "to deny, write `validationActions: [Deny]` in the members of that group"
      : `to deny, write \`validationActions: [Deny]\` ${where}; if it is meant, write the actions there, such as \`[Audit]\``;
  const { document, path } = group.origin;
  const named = document.hasKey([...path, "policies", name]);
  const at = ["policies", named ? name : index];
  return group.origin.warning(at, message, undefined, { code: "POLICY_NEVER_DENIES", hint });
}

/** The actions that an entry says itself: then they are meant. */
export const actionsOf = (entry: PolicyEntry): readonly string[] | undefined =>
  "validationActions" in entry ? entry.validationActions : undefined;

const namesText = (names: readonly string[]): string =>
  names.slice(0, MAX_NAMES).join(", ") + (names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "");
