import type { Policy, PolicyRule } from "./policy.js";

/** The rules of several policies together; `undefined` when none of them declares any. */
export function rulesTogether(policies: readonly Pick<Policy, "rules">[]): readonly PolicyRule[] | undefined {
  const said = policies.flatMap(({ rules }) => (rules === undefined ? [] : [rules]));
  return said.length === 0 ? undefined : said.flat();
}
