/** Which resources are policies, and the ids under which they are served. */

/** The group of Kubewarden's resources. */
export const KUBEWARDEN_GROUP = "policies.kubewarden.io";
/** The group of Kyverno's policies and exceptions. */
export const KYVERNO_GROUP = "policies.kyverno.io";
/** The group of ValidatingAdmissionPolicies and MutatingAdmissionPolicies. */
export const ADMISSION_GROUP = "admissionregistration.k8s.io";
/** The group of CertificateRequestPolicies. */
export const CERTIFICATE_GROUP = "policy.cert-manager.io";

/** The id of all CertificateRequestPolicies: they decide together. */
export const CERTIFICATE_REQUEST_POLICIES = "certificaterequestpolicies";

/** A resource as its key tells it. */
export interface ResourceKey {
  readonly group: string;
  readonly kind: string;
  /** Empty where there is none. */
  readonly namespace: string;
  readonly name: string;
}

/** Kinds of policies that stand in a namespace, and are confined to it. */
export const NAMESPACED_POLICY_KINDS = [
  "AdmissionPolicy",
  "AdmissionPolicyGroup",
  "NamespacedValidatingPolicy",
] as const;
/** A kind of policies that stand in a namespace. */
export type NamespacedPolicyKind = (typeof NAMESPACED_POLICY_KINDS)[number];

/** What ids of each kind begin with, by `<group>/<kind>` (spec kubewarden.md 11.2 for Kubewarden's). */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  [`${KUBEWARDEN_GROUP}/ClusterAdmissionPolicy`, "clusterwide-"],
  [`${KUBEWARDEN_GROUP}/AdmissionPolicy`, "namespaced-"],
  [`${KUBEWARDEN_GROUP}/ClusterAdmissionPolicyGroup`, "clusterwide-group-"],
  [`${KUBEWARDEN_GROUP}/AdmissionPolicyGroup`, "namespaced-group-"],
  [`${KYVERNO_GROUP}/ValidatingPolicy`, "validatingpolicy-"],
  [`${KYVERNO_GROUP}/NamespacedValidatingPolicy`, "namespacedvalidatingpolicy-"],
  [`${ADMISSION_GROUP}/ValidatingAdmissionPolicy`, "validatingadmissionpolicy-"],
  [`${ADMISSION_GROUP}/MutatingAdmissionPolicy`, "mutatingadmissionpolicy-"],
]);

/** The parts of `<group>/<kind>/<namespace>/<name>`. */
export function parseKey(key: string): ResourceKey {
  const [group = "", kind = "", namespace = "", name = ""] = key.split("/");
  return { group, kind, namespace, name };
}

/**
 * The id under which a resource is served; undefined for one that is no policy. Two resources may have the same one (`a-b` in `c`, `b` in `c-a`): the older
 * one is served.
 */
export function policyIdOf({ group, kind, namespace, name }: ResourceKey): string | undefined {
  if (group === CERTIFICATE_GROUP && kind === "CertificateRequestPolicy") return CERTIFICATE_REQUEST_POLICIES;
  const prefix = PREFIXES.get(`${group}/${kind}`);
  if (prefix === undefined) return undefined;
  return namespace === "" ? `${prefix}${name}` : `${prefix}${namespace}-${name}`;
}

/** How messages name a resource: `ValidatingPolicy require-labels`, `AdmissionPolicy team/x`. */
export const shownName = ({ kind, namespace, name }: ResourceKey): string =>
  `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;

/** A resource as far as it counts for who keeps an id. */
export interface Namesake {
  readonly key: string;
  /** `metadata.creationTimestamp`; empty where there is none. */
  readonly createdAt: string;
}

/** Below 0: the first one keeps the id that both would have. It is older, or, of two that are equally old, its key comes first. The API server writes times such that their letters have the order of times. */
export function compareNamesakes(one: Namesake, other: Namesake): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? -1 : 1;
  return one.key < other.key ? -1 : 1;
}
