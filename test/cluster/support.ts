/** What tests of the agent share. */
import type { AgentMetrics } from "../../src/cluster/metrics.js";
import type { ClusterSettings } from "../../src/cluster/settings.js";
import type { FakeApiServer, TestObject } from "../kubernetes/client/fake-api-server.js";

/** Settings of a replica that nobody has told anything. */
export const SETTINGS: ClusterSettings = {
  policyServer: "default",
  exceptionNamespaces: new Set(),
  exemptNamespaces: [],
  namespace: "policy-server",
  replica: "one",
  kyvernoClusterPolicies: false,
  enforceAdmissionPolicies: false,
  enforceMutatingAdmissionPolicies: false,
  service: { namespace: "policy-server", name: "policy-server" },
  manageWebhooks: false,
  owner: "policy-server",
  auditInterval: 0,
  auditReports: "none",
  events: false,
  readyWithoutSources: false,
};

/** Metrics that nobody reads. */
export const NO_METRICS: AgentMetrics = {
  gauge: () => {},
  rejections: async () => [],
  certificateChanged: () => {},
  auditResults: () => {},
  breakGlass: () => {},
};

export const DEFINITIONS = "customresourcedefinitions";
export const POLICIES = "clusteradmissionpolicies";

/** Defines kinds of custom resources, by the names of their definitions. */
export function define(server: FakeApiServer, ...names: string[]): void {
  for (const name of names) server.put(DEFINITIONS, { metadata: { name } });
}

/** Kubewarden's definitions. */
export const KUBEWARDEN = [
  "clusteradmissionpolicies",
  "admissionpolicies",
  "clusteradmissionpolicygroups",
  "admissionpolicygroups",
  "policyservers",
].map((plural) => `${plural}.policies.kubewarden.io`);

/** A ClusterAdmissionPolicy. */
export const policy = (name: string, spec: object = {}, more: object = {}): TestObject => ({
  apiVersion: "policies.kubewarden.io/v1",
  kind: "ClusterAdmissionPolicy",
  metadata: { name, uid: `uid-${name}`, generation: 1 },
  spec: { module: "registry://example.org/policy:v1", ...spec },
  ...more,
});

/** The key of a ClusterAdmissionPolicy's document. */
export const keyOfPolicy = (name: string): string => `policies.kubewarden.io/ClusterAdmissionPolicy//${name}`;
