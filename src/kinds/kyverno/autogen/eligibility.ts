/** Which policies are made into variants for pod controllers (spec kyverno.md 3.1). */
import type { MatchResources } from "../../shared/match/match-resources.js";
import type { ResourceRule } from "../../shared/match/resource-rule.js";

/** What a policy must be about. */
const POD_RULE = { apiGroups: "", apiVersions: "v1", resources: "pods" } as const;

/** The only rule of a policy that is about pods and nothing else, whatever they are called and labelled; `undefined` for all other policies. */
export function podRule(match: MatchResources | undefined): ResourceRule | undefined {
  const { resourceRules = [], excludeResourceRules = [], objectSelector = {} } = match ?? {};
  const { matchLabels = {}, matchExpressions = [] } = objectSelector;
  const [rule, ...others] = resourceRules;
  if (rule === undefined || others.length > 0 || excludeResourceRules.length > 0) return undefined;
  if (Object.keys(matchLabels).length > 0 || matchExpressions.length > 0) return undefined;
  if ((rule.resourceNames ?? []).length > 0) return undefined;
  for (const part of ["apiGroups", "apiVersions", "resources"] as const) {
    const values = rule[part] ?? [];
    if (values.length !== 1 || values[0] !== POD_RULE[part]) return undefined;
  }
  return rule;
}
