/** The requests that no webhook covers: denying them could prevent the cluster, or this server, from recovering. */
import type { AskedPolicy, MatchCondition, WebhookRule } from "./demand.js";
import { mayMatch } from "./rules.js";

/** The namespace of the cluster's own parts. */
const SYSTEM_NAMESPACE = "kube-system";

/** Resources that are written all the time by the parts that keep the cluster running, or by this server itself about its findings. */
const UNASKED: readonly (readonly [group: string, resource: string])[] = [
  ["coordination.k8s.io", "leases"],
  ["openreports.io", "clusterreports"],
  ["openreports.io", "reports"],
  ["wgpolicyk8s.io", "clusterpolicyreports"],
  ["wgpolicyk8s.io", "policyreports"],
];

/** Leaves out these resources. */
const LEAVE_OUT: MatchCondition = {
  name: "policy-server.admission/asked-about",
  expression: `!((request.resource.group + "/" + request.resource.resource) in [${UNASKED.map(([group, resource]) => JSON.stringify(`${group}/${resource}`)).join(", ")}])`,
};

const INSIDE = "policy-server.admission/namespace";

/** Leaves out everything outside of a namespace: selectors of namespaces do not apply to cluster-scoped objects. */
const inside = (namespace: string): MatchCondition => ({
  name: INSIDE,
  expression: `has(request.namespace) && request.namespace == ${JSON.stringify(namespace)}`,
});

/** The conditions of a policy's webhook beside the policy's own. */
export const ownConditions = (
  rules: readonly WebhookRule[],
  namespace: string | undefined,
): readonly MatchCondition[] => [
  ...(UNASKED.some(([group, resource]) => mayMatch(rules, group, resource)) ? [LEAVE_OUT] : []),
  ...(namespace === undefined ? [] : [inside(namespace)]),
];

/** Whether a condition has the name of one of these. */
export const isOwnCondition = ({ name }: MatchCondition): boolean => name === LEAVE_OUT.name || name === INSIDE;

/** The namespaces that a policy's webhook leaves out, sorted. */
export const excludedNamespaces = (ownNamespace: string, { insideOwnNamespace }: AskedPolicy): readonly string[] =>
  [...new Set(insideOwnNamespace === true ? [SYSTEM_NAMESPACE] : [SYSTEM_NAMESPACE, ownNamespace])].sort();
