/** The defaults that the API server sets before an object is stored (spec validating-admission-policy.md 1.1 to 1.4). */
import type { MatchResources } from "../shared/match/match-resources.js";
import type { ResourceRule } from "../shared/match/resource-rule.js";
import type { CommonBindingSpec, CommonPolicySpec, Resource } from "./resource.js";

/** The policy with its defaults; they are the same in all versions. */
export function defaultPolicy<P extends Resource<CommonPolicySpec>>(policy: P): P {
  const { spec } = policy;
  return {
    ...policy,
    spec: {
      ...spec,
      failurePolicy: spec.failurePolicy ?? "Fail",
      ...(spec.matchConstraints && { matchConstraints: defaultMatch(spec.matchConstraints) }),
    },
  };
}

/** The binding with its defaults; v1alpha1 has one that the later versions dropped. */
export function defaultBinding<B extends Resource<CommonBindingSpec>>(binding: B): B {
  const { paramRef, matchResources } = binding.spec;
  const missing = binding.apiVersion.endsWith("/v1alpha1") ? { parameterNotFoundAction: "Deny" } : {};
  return {
    ...binding,
    spec: {
      ...binding.spec,
      ...(paramRef && { paramRef: { ...missing, ...paramRef } }),
      ...(matchResources && { matchResources: defaultMatch(matchResources) }),
    },
  };
}

/** Match criteria with their defaults. */
function defaultMatch(match: MatchResources): MatchResources {
  return {
    ...match,
    matchPolicy: match.matchPolicy ?? "Equivalent",
    namespaceSelector: match.namespaceSelector ?? {},
    objectSelector: match.objectSelector ?? {},
    ...(match.resourceRules && { resourceRules: match.resourceRules.map(defaultRule) }),
    ...(match.excludeResourceRules && { excludeResourceRules: match.excludeResourceRules.map(defaultRule) }),
  };
}

const defaultRule = (rule: ResourceRule): ResourceRule => ({ ...rule, scope: rule.scope ?? "*" });
