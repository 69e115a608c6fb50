import type { Policy, PolicyRule } from "./policy.js";

/** What any of several policies is for; `undefined` when none of them says it. */
export function rulesTogether(policies: readonly Pick<Policy, "rules">[]): readonly PolicyRule[] | undefined {
  const said = policies.flatMap(({ rules }) => (rules === undefined ? [] : [rules]));
  return said.length === 0 ? undefined : said.flat();
}
