import { anyOf } from "./constraints.js";
import type { AskedPolicy, Demand } from "./demand.js";
import { OWN_DOMAIN } from "./shared.js";

/** Several policies under one id as one: whatever any of them wants to be asked about. */
export function together(id: string, policies: readonly AskedPolicy[]): AskedPolicy {
  const [first, ...others] = policies;
  if (first !== undefined && others.length === 0) return first;
  const demands = policies.map(({ demand }) => demand);
  const said = anyOf(demands.map((demand) => ({ ...demand, whole: false })));
  const namespaces = new Set(policies.map(({ namespace }) => namespace));
  const [namespace] = namespaces.size === 1 ? namespaces : [];
  const demand: Demand = {
    rules: said.rules,
    namespaceSelector: said.namespaceSelector,
    objectSelector: said.objectSelector,
    // What one of them leaves out another may be about.
    matchConditions: [],
    matchPolicy: demands.every(({ matchPolicy }) => matchPolicy === "Exact") ? "Exact" : "Equivalent",
    failurePolicy: demands.every(({ failurePolicy }) => failurePolicy === "Ignore") ? "Ignore" : "Fail",
    sideEffects: demands.every(({ sideEffects }) => sideEffects === "None") ? "None" : "NoneOnDryRun",
    timeoutSeconds: Math.max(...demands.map(({ timeoutSeconds }) => timeoutSeconds)),
  };
  return {
    id,
    demand,
    mutating: policies.some(({ mutating }) => mutating),
    shares: false,
    domain: first?.domain ?? OWN_DOMAIN,
    ...(namespace !== undefined && { namespace }),
  };
}
