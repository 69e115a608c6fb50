import assert from "node:assert/strict";
import { test } from "node:test";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { kubectlText } from "../../../src/data/kubectl-text.js";

const KEY = "policies.kyverno.io/ValidatingPolicy//p";
const deriver = () => new WebhookDeriver({ ownNamespace: "own", idOf: () => "p" });

const specOf = (resource: string) => ({
  matchConstraints: {
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource] }],
  },
  validations: [{ expression: "false" }],
});

function policy(
  generation: number,
  resource: string,
  annotations: Readonly<Record<string, string>> = {},
): ClusterDocument {
  const ours = Object.entries(annotations).map(([name, value]) => [`policy-server.admission/${name}`, value]);
  const metadata = { name: "p", uid: "0123456789", generation, annotations: Object.fromEntries(ours) };
  const object = { apiVersion: "policies.kyverno.io/v1", kind: "ValidatingPolicy", metadata, spec: specOf(resource) };
  return {
    key: KEY,
    uid: "0123456789",
    resourceVersion: JSON.stringify(metadata),
    generation,
    text: kubectlText(object),
  };
}

/** What is asked about, and what becomes of requests when that fails. */
function asked(versions: WebhookDeriver, document: ClusterDocument) {
  const { webhooks } = versions.derive([document]);
  return webhooks.map(({ rules, failurePolicy }) => [rules.flatMap(({ resources }) => resources), failurePolicy]);
}

test("webhooks ask about what versions in force want, whatever stands in shadow", () => {
  const versions = deriver();
  assert.deepEqual(asked(versions, policy(1, "configmaps")), [[["configmaps"], "Fail"]]);
  assert.deepEqual(asked(versions, policy(2, "secrets", { rollout: "shadow" })), [[["configmaps"], "Fail"]]);
  const note = JSON.stringify({ generation: 1, spec: specOf("configmaps") });
  const inShadow = policy(2, "secrets", { rollout: "shadow", "active-spec": note });
  assert.deepEqual(asked(deriver(), inShadow), [[["configmaps"], "Fail"]]);
  const promoted = policy(2, "secrets", {
    rollout: "shadow",
    "active-spec": JSON.stringify({ generation: 2, spec: specOf("secrets") }),
  });
  assert.deepEqual(asked(versions, promoted), [[["secrets"], "Fail"]]);
});

test("a policy of which no version is in force is asked, and no request fails for it", () => {
  assert.deepEqual(asked(deriver(), policy(1, "configmaps", { rollout: "shadow" })), [[["configmaps"], "Ignore"]]);
  const enforced = policy(1, "configmaps", { rollout: "shadow", "enforced-namespaces": "dev" });
  assert.deepEqual(asked(deriver(), enforced), [[["configmaps"], "Fail"]]);
});
