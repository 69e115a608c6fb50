/** Which policies a request is put to where it does not say so itself. */
import type { AdmissionRequest } from "../../admission/admission-request.js";
import type { Policy, PolicyRule } from "../../policy/policy.js";
import type { PolicySet } from "../../policy/served/policy-set.js";

/** Policies, not members of groups, that may be about this; whoever says nothing of what it is for may be about anything. */
export function policiesFor(policies: PolicySet, request: AdmissionRequest): string[] {
  return Array.from(policies.entries.values())
    .filter(({ id, policy }) => !id.includes("/") && isAbout(policy, request))
    .map(({ id }) => id);
}

function isAbout({ rules }: Policy, request: AdmissionRequest): boolean {
  return rules === undefined || rules.length === 0 || rules.some((rule) => ruleIsAbout(rule, request));
}

function ruleIsAbout(rule: PolicyRule, request: AdmissionRequest): boolean {
  const { group, version, resource } = request.resource;
  return (
    names(rule.operations, request.operation) &&
    names(rule.apiGroups, group) &&
    names(rule.apiVersions, version) &&
    namesResource(rule.resources, resource, request.subResource ?? "")
  );
}

const names = (words: readonly string[] | undefined, word: string): boolean =>
  words === undefined || words.includes("*") || words.includes(word);

function namesResource(resources: readonly string[] | undefined, resource: string, subresource: string): boolean {
  return (
    resources === undefined ||
    resources.some((entry) => {
      const [main = "", sub = ""] = entry.split("/", 2);
      return (main === "*" || main === resource) && (sub === "*" || sub === subresource);
    })
  );
}
