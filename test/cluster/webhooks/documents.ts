/** Documents as an agent gives them. */
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";

interface Written {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: JsonObject;
}

export function document(resource: Written): ClusterDocument {
  const [group = ""] = resource.apiVersion.split("/");
  const { name, namespace = "" } = resource.metadata;
  return {
    key: `${group}/${resource.kind}/${namespace}/${name}`,
    uid: name,
    resourceVersion: "1",
    generation: 1,
    text: JSON.stringify(resource, undefined, 4),
  };
}

const PODS = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const SERVICES = { ...PODS, resources: ["services"] };

export const kubewarden = (name: string, spec: JsonObject = {}, namespace?: string): ClusterDocument =>
  document({
    apiVersion: "policies.kubewarden.io/v1",
    kind: namespace === undefined ? "ClusterAdmissionPolicy" : "AdmissionPolicy",
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec: { module: "registry://r/p:v1", mutating: false, rules: [PODS], ...spec },
  });

/** About Services, so that it has no variants. */
export const kyverno = (name: string, spec: JsonObject = {}, namespace?: string): ClusterDocument =>
  document({
    apiVersion: "policies.kyverno.io/v1",
    kind: namespace === undefined ? "ValidatingPolicy" : "NamespacedValidatingPolicy",
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec: { matchConstraints: { resourceRules: [SERVICES] }, validations: [{ expression: "true" }], ...spec },
  });

export const admissionPolicy = (name: string, spec: JsonObject = {}): ClusterDocument =>
  document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [SERVICES] }, validations: [{ expression: "true" }], ...spec },
  });

export const binding = (policyName: string, spec: JsonObject = {}, name = `of-${policyName}`): ClusterDocument =>
  document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName, validationActions: ["Deny"], ...spec },
  });

/** About Services, unless its spec says otherwise. */
export const mutatingPolicy = (name: string, spec: JsonObject = {}): ClusterDocument =>
  document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingAdmissionPolicy",
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [SERVICES] },
      mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'test', path: '/kind'}]" } }],
      reinvocationPolicy: "Never",
      ...spec,
    },
  });

export const mutatingBinding = (
  policyName: string,
  spec: JsonObject = {},
  name = `of-${policyName}`,
): ClusterDocument =>
  document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName, ...spec },
  });
