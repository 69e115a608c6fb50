/** Several policies under one id. */
import { OWN_DOMAIN } from "./admission-policy-demand.js";
import { anyOf } from "./constraints.js";
import type { AskedPolicy, Demand } from "./demand.js";

/** Several policies under one id as one: with the union of their demands. */
export function together(id: string, policies: readonly AskedPolicy[]): AskedPolicy {
  const [first, ...others] = policies;
  if (first !== undefined && others.length === 0) return first;
  const demands = policies.map(({ demand }) => demand);
  const said = anyOf(demands.map((demand) => ({ ...demand, isExact: false })));
  const namespaces = new Set(policies.map(({ namespace }) => namespace));
  const [namespace] = namespaces.size === 1 ? namespaces : [];
  const demand: Demand = {
    rules: said.rules,
    named: said.named,
    namespaceSelector: said.namespaceSelector,
    objectSelector: said.objectSelector,
    // A request that one of them leaves out may be another's.
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
    asksAboutRights: policies.some(({ asksAboutRights }) => asksAboutRights),
    ...(policies.every(({ isAdmissionPolicy }) => isAdmissionPolicy) && { isAdmissionPolicy: true }),
    hasExemptions: policies.every(({ hasExemptions }) => hasExemptions),
    shares: false,
    domain: first?.domain ?? OWN_DOMAIN,
    ...(namespace !== undefined && { namespace }),
  };
}
