/** The CRDs of deploy/: the API server takes an example of each kind, fills in defaults, and says what is wrong. */
import assert from "node:assert/strict";
import {
  certificateRequestPolicy,
  clusterAdmissionPolicy,
  kubewardenAdmissionPolicy,
  namespacedValidatingPolicy,
  policyException,
  policyGroup,
  validatingPolicy,
} from "./policies.js";
import { conditionsOf, type Json, type Stage } from "./stage.js";

const report = (kind: string, namespace?: string): object => ({
  apiVersion: "openreports.io/v1alpha1",
  kind,
  metadata: { name: "example", ...(namespace && { namespace }) },
  source: "policy-server",
  scope: { apiVersion: "v1", kind: "Pod", name: "p" },
  summary: { pass: 0, fail: 1, warn: 0, error: 0, skip: 0 },
  results: [{ policy: "p", result: "fail", timestamp: { seconds: 1, nanos: 0 }, properties: { a: "b" } }],
});

/** One of each kind. */
const EXAMPLES: readonly object[] = [
  clusterAdmissionPolicy("example", "examples", "k"),
  kubewardenAdmissionPolicy("example", "examples", "k"),
  policyGroup("example", "examples", ["a", "b"], false),
  policyGroup("example", "examples", ["a", "b"], true),
  {
    apiVersion: "policies.kubewarden.io/v1",
    kind: "PolicyServer",
    metadata: { name: "example" },
    spec: {
      image: "of no use here",
      replicas: 2,
      insecureSources: ["localhost:5000"],
      namespacedPoliciesCapabilities: [],
    },
  },
  validatingPolicy("example", "examples", "k"),
  namespacedValidatingPolicy("example", "examples", "k"),
  policyException("example", "examples", "example", "c"),
  {
    apiVersion: "kyverno.io/v2",
    kind: "GlobalContextEntry",
    metadata: { name: "example" },
    spec: { kubernetesResource: { version: "v1", resource: "configmaps" } },
  },
  certificateRequestPolicy("example"),
  report("Report", "examples"),
  report("ClusterReport"),
];

/** Changes of the cluster-wide example that are refused, and what is said. */
const REFUSED: readonly (readonly [resource: string, patch: object, said: RegExp])[] = [
  ["cap", { policyServer: "other" }, /spec\.policyServer: Invalid value: "other": the policy server is for good/],
  ["cap", { mode: "monitor" }, /spec\.mode: Invalid value: "monitor": a policy that protects does not go back/],
  ["cap", { mode: "watch" }, /spec\.mode: Unsupported value: "watch": supported values: "protect", "monitor"/],
  ["cap", { timeoutSeconds: 31 }, /spec\.timeoutSeconds: Invalid value: 31: .*less than or equal to 30/],
  ["cap", { timeoutEvalSeconds: 11 }, /one evaluation takes no longer than the API server waits/],
  ["cap", { mutating: null }, /spec\.mutating: Required value/],
  ["cap", { rules: [] }, /spec\.rules: Invalid value: 0: .*at least 1 items/],
  [
    "ap",
    { rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }] },
    /name their groups/,
  ],
  ["capg", { policies: null }, /spec\.policies: Required value/],
  ["capg", { policies: { "a-b": { module: "m" } } }, /a member is named as CEL names functions/],
  ["capg", { message: null }, /spec\.message: Required value/],
  ["capg", { policies: { first: { timeoutEvalSeconds: 6 }, second: { timeoutEvalSeconds: 6 } } }, /members together/],
  ["vpol", { validationActions: ["Refuse"] }, /spec\.validationActions\[0\]: Unsupported value: "Refuse"/],
  ["polex", { policyRefs: [] }, /spec\.policyRefs: Invalid value: 0: .*at least 1 items/],
  ["certificaterequestpolicies", { selector: null }, /spec\.selector: Required value/],
];

/** Those of {@link EXAMPLES} that our server writes a status for. */
const WITH_STATUS: readonly (readonly [resource: string, namespace: string])[] = [
  ["cap", ""],
  ["ap", "examples"],
  ["capg", ""],
  ["apg", "examples"],
  ["vpol", ""],
  ["nvpol", "examples"],
  ["certificaterequestpolicies", ""],
];

export async function definitions(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "examples"]);
  const server = await stage.replica("definitions");
  for (const example of EXAMPLES) {
    await stage.kubectl(["create", "--validate=strict", "-f", "-"], JSON.stringify(example));
  }
  for (const [resource, namespace] of WITH_STATUS) {
    await stage.claim(`an example of ${resource} is taken, and our server says what it makes of it`, async () => {
      await stage.until(
        "its status",
        async () => conditionsOf(await stage.get(resource, "example", namespace)).length > 0,
      );
    });
  }
  await stage.claim("defaults are filled in", async () => {
    const { spec } = (await stage.get("cap", "example")) as Json;
    const filled = [spec?.policyServer, spec?.mode, spec?.timeoutSeconds, spec?.backgroundAudit].map(String);
    assert.deepEqual(filled, ["default", "protect", "10", "true"]);
  });
  for (const [resource, patch, said] of REFUSED) {
    const place = ["ap", "polex"].includes(resource) ? ["-n", "examples"] : [];
    const merge = JSON.stringify({ spec: patch });
    await stage.claim(`refused: ${resource} ${merge}`, async () => {
      await stage.refused(["patch", resource, "example", ...place, "--type=merge", "-p", merge], "", said);
    });
  }
  const monitor = clusterAdmissionPolicy("monitor", "examples", "k", { mode: "monitor" });
  await stage.kubectl(["create", "-f", "-"], JSON.stringify(monitor));
  await stage.claim("a policy may begin to protect, and not go back", async () => {
    await stage.kubectl(["patch", "cap", "monitor", "--type=merge", "-p", '{"spec":{"mode":"protect"}}']);
    const back = ["patch", "cap", "monitor", "--type=merge", "-p", '{"spec":{"mode":"monitor"}}'];
    await stage.refused(back, "", /a policy that protects does not go back/);
  });
  await stage.kubectl(
    ["delete", "-f", "-", "--wait=false"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: [monitor, ...EXAMPLES] }),
  );
  assert.equal(await server.stop(), 0);
}
