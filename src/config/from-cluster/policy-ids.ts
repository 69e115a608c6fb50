/** Decides which resources are policies, and the ids under which they are served. */
import { createHash } from "node:crypto";

/** The group of Kubewarden's resources. */
export const KUBEWARDEN_GROUP = "policies.kubewarden.io";
/** The group of Kyverno's policies and exceptions. */
export const KYVERNO_GROUP = "policies.kyverno.io";
/** The group of Kyverno's policies and exceptions of the old language, and of GlobalContextEntries. */
export const OLD_KYVERNO_GROUP = "kyverno.io";
/** The group of ValidatingAdmissionPolicies and MutatingAdmissionPolicies. */
export const ADMISSION_GROUP = "admissionregistration.k8s.io";
/** The group of CertificateRequestPolicies. */
export const CERTIFICATE_GROUP = "policy.cert-manager.io";

/** The id of all CertificateRequestPolicies: they decide together. */
export const CERTIFICATE_REQUEST_POLICIES = "certificaterequestpolicies";

/** The parts of a resource's key. */
export interface ResourceKey {
  readonly group: string;
  readonly kind: string;
  /** Empty where there is none. */
  readonly namespace: string;
  readonly name: string;
}

/** Kinds of policies in a namespace, which are confined to it. */
export const NAMESPACED_POLICY_KINDS = [
  "AdmissionPolicy",
  "AdmissionPolicyGroup",
  "NamespacedValidatingPolicy",
  "Policy",
] as const;
/** A kind of policies in a namespace. */
export type NamespacedPolicyKind = (typeof NAMESPACED_POLICY_KINDS)[number];

/** The beginning of each kind's ids, by `<group>/<kind>` (spec kubewarden.md 11.2 for Kubewarden's). */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  [`${KUBEWARDEN_GROUP}/ClusterAdmissionPolicy`, "clusterwide"],
  [`${KUBEWARDEN_GROUP}/AdmissionPolicy`, "namespaced"],
  [`${KUBEWARDEN_GROUP}/ClusterAdmissionPolicyGroup`, "clusterwide-group"],
  [`${KUBEWARDEN_GROUP}/AdmissionPolicyGroup`, "namespaced-group"],
  [`${KYVERNO_GROUP}/ValidatingPolicy`, "validatingpolicy"],
  [`${KYVERNO_GROUP}/NamespacedValidatingPolicy`, "namespacedvalidatingpolicy"],
  [`${OLD_KYVERNO_GROUP}/ClusterPolicy`, "clusterpolicy"],
  [`${OLD_KYVERNO_GROUP}/Policy`, "policy"],
  [`${ADMISSION_GROUP}/ValidatingAdmissionPolicy`, "validatingadmissionpolicy"],
  [`${ADMISSION_GROUP}/MutatingAdmissionPolicy`, "mutatingadmissionpolicy"],
]);

/** Longest id: with the longest ending of a webhook's name it has the 253 characters that the API server allows, and so has its part of a path. */
const LONGEST_ID = 229;
/** Hexadecimal digits that replace the end of a longer id. */
const HASH_DIGITS = 32;

/** The parts of `<group>/<kind>/<namespace>/<name>`. */
export function parseKey(key: string): ResourceKey {
  const [group = "", kind = "", namespace = "", name = ""] = key.split("/");
  return { group, kind, namespace, name };
}

/**
 * The id under which a resource is served; undefined for one that is not a policy. It depends on the resource alone, and no two resources have the same one, so
 * that none can be taken away: Kubewarden's `namespaced-<namespace>-<name>` where it can be read in one way only, else `namespaced.<namespace>.<name>`. One
 * that is too long is hashed.
 */
export function policyIdOf({ group, kind, namespace, name }: ResourceKey): string | undefined {
  if (group === CERTIFICATE_GROUP && kind === "CertificateRequestPolicy") return CERTIFICATE_REQUEST_POLICIES;
  const prefix = PREFIXES.get(`${group}/${kind}`);
  if (prefix === undefined) return undefined;
  const parts = namespace === "" ? [prefix, name] : [prefix, namespace, name];
  const plain = parts.join("-");
  // A namespace has no dot, so the first dot is its end.
  const isClear = namespace === "" || !(namespace.includes("-") || name.includes("."));
  const id = isClear && !isOfAnotherKind(plain, prefix) ? plain : parts.join(".");
  if (id.length <= LONGEST_ID) return id;
  const hash = createHash("sha256").update(`${namespace}/${name}`).digest("hex");
  return `${prefix}.${hash.slice(0, HASH_DIGITS)}`;
}

/** Whether an id begins like those of another kind, such as that of an AdmissionPolicy in the namespace `group`. */
const isOfAnotherKind = (id: string, prefix: string): boolean =>
  [...PREFIXES.values()].some((other) => other.length > prefix.length && id.startsWith(`${other}-`));

/** The name of a resource in messages: `ValidatingPolicy require-labels`, `AdmissionPolicy team/x`. */
export const shownName = ({ kind, namespace, name }: ResourceKey): string =>
  `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
