/** Policies that scenes apply, one of each kind, and what they deny. Each looks at ConfigMaps of one namespace, so that scenes don't meet. */
import { once } from "node:events";
import { createServer } from "node:http";
import { emptyModule } from "../../support/empty-module.js";

const APPEARS = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] };

/** What every policy here asks: no ConfigMap may have this key. */
const denies = (key: string): object => ({
  expression: `!has(object.data) || !('${key}' in object.data)`,
  message: `the key ${key} is not allowed`,
});
const within = (namespace: string): object => ({ matchLabels: { "kubernetes.io/metadata.name": namespace } });

/** Kyverno's. */
export const validatingPolicy = (name: string, namespace: string, key: string, spec: object = {}): object => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [APPEARS], namespaceSelector: within(namespace) },
    validations: [denies(key)],
    ...spec,
  },
});

/** Kyverno's, of one namespace. */
export const namespacedValidatingPolicy = (name: string, namespace: string, key: string): object => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "NamespacedValidatingPolicy",
  metadata: { name, namespace },
  spec: { matchConstraints: { resourceRules: [APPEARS] }, validations: [denies(key)] },
});

/** Kyverno's exception from a policy, for ConfigMaps of one name. */
export const policyException = (name: string, namespace: string, policy: string, exempt: string): object => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "PolicyException",
  metadata: { name, namespace },
  spec: {
    policyRefs: [{ name: policy, kind: "ValidatingPolicy" }],
    matchConditions: [{ name: "exempt", expression: `object.metadata.name == '${exempt}'` }],
  },
});

/** Kubernetes' own, with its binding. */
export const admissionPolicy = (name: string, namespace: string, key: string): object[] => [
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { resourceRules: [APPEARS], namespaceSelector: within(namespace) },
      validations: [denies(key)],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName: name, validationActions: ["Deny"] },
  },
];

/** The settings of Kubewarden's CEL module. */
const celSettings = (key: string): object => ({ validations: [denies(key)] });
/** Where Kubewarden's module for CEL is fetched from; namespaced policies may not name files. */
export const MODULE_HOST = `127.0.0.1:${19_000 + (process.pid % 1_000)}`;
const CEL_MODULE = `https://${MODULE_HOST}/cel.wasm`;

/**
 * Serves that module as its metadata has it known (its rules are run without it), by plain HTTP: a PolicyServer has to allow that.
 * @returns stops
 */
export async function serveCelModule(): Promise<() => void> {
  const bytes = emptyModule("cel-policy");
  const server = createServer((_, response) => response.end(bytes));
  const { port } = new URL(CEL_MODULE);
  server.listen(Number(port), "127.0.0.1");
  await once(server, "listening");
  return () => server.close();
}

/** Allows it. */
export const policyServer = (): object => ({
  apiVersion: "policies.kubewarden.io/v1",
  kind: "PolicyServer",
  metadata: { name: "default" },
  spec: { insecureSources: [MODULE_HOST] },
});

/** Kubewarden's, with CEL; the module itself is not fetched. */
export const clusterAdmissionPolicy = (name: string, namespace: string, key: string, spec: object = {}): object => ({
  apiVersion: "policies.kubewarden.io/v1",
  kind: "ClusterAdmissionPolicy",
  metadata: { name },
  spec: {
    module: CEL_MODULE,
    settings: celSettings(key),
    mutating: false,
    rules: [APPEARS],
    namespaceSelector: within(namespace),
    ...spec,
  },
});

/** Kubewarden's, of one namespace. */
export const kubewardenAdmissionPolicy = (name: string, namespace: string, key: string): object => ({
  apiVersion: "policies.kubewarden.io/v1",
  kind: "AdmissionPolicy",
  metadata: { name, namespace },
  spec: { module: CEL_MODULE, settings: celSettings(key), mutating: false, rules: [APPEARS] },
});

/** Kubewarden's group: either key alone is allowed, both together are not. */
export const policyGroup = (
  name: string,
  namespace: string,
  keys: readonly [string, string],
  own: boolean,
): object => ({
  apiVersion: "policies.kubewarden.io/v1",
  kind: own ? "AdmissionPolicyGroup" : "ClusterAdmissionPolicyGroup",
  metadata: own ? { name, namespace } : { name },
  spec: {
    rules: [APPEARS],
    ...(own ? {} : { namespaceSelector: within(namespace) }),
    expression: "first() || second()",
    message: `${keys.join(" and ")} together are not allowed`,
    policies: {
      first: { module: CEL_MODULE, settings: celSettings(keys[0]) },
      second: { module: CEL_MODULE, settings: celSettings(keys[1]) },
    },
  },
});

/** cert-manager's: requests for names below example.com. */
export const certificateRequestPolicy = (name: string): object => ({
  apiVersion: "policy.cert-manager.io/v1alpha1",
  kind: "CertificateRequestPolicy",
  metadata: { name },
  spec: { allowed: { dnsNames: { values: ["*.example.com"] } }, selector: { issuerRef: {} } },
});

/** A ConfigMap with these keys. */
export const configMap = (name: string, ...keys: readonly string[]): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: Object.fromEntries(keys.map((key) => [key, "x"])),
});
