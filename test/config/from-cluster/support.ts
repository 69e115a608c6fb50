import { createHash } from "node:crypto";
import type { ClusterDelta, ClusterDocument } from "../../../src/config/from-cluster/index.js";

/** A resource as the agent of a cluster tells of it. */
export function document(object: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}): ClusterDocument {
  const { apiVersion, kind, metadata } = object;
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  const text = JSON.stringify(object, undefined, 4);
  const version = createHash("sha256").update(text).digest("hex");
  const { generation = 1, uid = "u", resourceVersion = version } = metadata;
  return {
    key: `${group}/${kind}/${metadata.namespace ?? ""}/${metadata.name}`,
    uid: String(uid),
    resourceVersion: String(resourceVersion),
    generation: Number(generation),
    text,
  };
}

/** Documents by their keys. */
export const byKey = (...documents: readonly ClusterDocument[]): ReadonlyMap<string, ClusterDocument> =>
  new Map(documents.map((each) => [each.key, each]));

/** A delta to a version; from nothing unless said otherwise. */
export const delta = (
  version: number,
  put: readonly ClusterDocument[],
  more: Partial<ClusterDelta> = {},
): ClusterDelta => ({
  version,
  base: 0,
  put,
  removed: [],
  sets: [],
  ...more,
});

const GROUP = "policies.kubewarden.io/v1";

/** A policy of Kubewarden, cluster-wide without a namespace. */
export const admissionPolicy = (
  name: string,
  spec: object = {},
  namespace?: string,
  metadata: object = {},
): ClusterDocument =>
  document({
    apiVersion: GROUP,
    kind: namespace === undefined ? "ClusterAdmissionPolicy" : "AdmissionPolicy",
    metadata: { name, ...(namespace !== undefined && { namespace }), ...metadata },
    spec: { module: "registry://reg.example/p:v1", mutating: false, rules: [], ...spec },
  });

/** A group of Kubewarden. */
export const admissionPolicyGroup = (
  name: string,
  policies: object,
  namespace?: string,
  metadata: object = {},
): ClusterDocument =>
  document({
    apiVersion: GROUP,
    kind: namespace === undefined ? "ClusterAdmissionPolicyGroup" : "AdmissionPolicyGroup",
    metadata: { name, ...(namespace !== undefined && { namespace }), ...metadata },
    spec: { expression: "m()", message: "no", rules: [], policies },
  });

/** A PolicyServer. */
export const policyServer = (name: string, spec: object): ClusterDocument =>
  document({ apiVersion: GROUP, kind: "PolicyServer", metadata: { name }, spec: { image: "x", replicas: 1, ...spec } });

/** A policy of Kyverno about Pods; namespaced with a namespace. */
export const kyvernoPolicy = (
  name: string,
  expression: string,
  namespace?: string,
  metadata: object = {},
): ClusterDocument =>
  document({
    apiVersion: "policies.kyverno.io/v1",
    kind: namespace === undefined ? "ValidatingPolicy" : "NamespacedValidatingPolicy",
    metadata: { name, ...(namespace !== undefined && { namespace }), ...metadata },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      validations: [{ expression, message: "no" }],
    },
  });

/** An exception from a policy of Kyverno. */
export const exception = (name: string, policy: string, spec: object = {}): ClusterDocument =>
  document({
    apiVersion: "policies.kyverno.io/v1",
    kind: "PolicyException",
    metadata: { name, namespace: "team" },
    spec: { policyRefs: [{ name: policy, kind: "ValidatingPolicy" }], ...spec },
  });

/** A ValidatingAdmissionPolicy about Pods. */
export const validatingPolicy = (name: string, expression = "true"): ClusterDocument =>
  document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      validations: [{ expression }],
    },
  });

/** What binds it. */
export const binding = (name: string, policyName: string): ClusterDocument =>
  document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName, validationActions: ["Deny"] },
  });
