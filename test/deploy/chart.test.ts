import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { SERVE_OPTIONS } from "../../src/commands/option-definitions.js";
import { type Manifest, renderChart, type Values } from "../support/chart.js";

const root = new URL("../../../", import.meta.url);

interface PodTemplate {
  readonly spec: { readonly securityContext: Values; readonly containers: readonly Values[] };
}

interface OpenApi {
  readonly kinds: Record<string, string>;
  readonly definitions: Record<string, { properties?: unknown; additionalProperties?: unknown }>;
}

const openapi = JSON.parse(readFileSync(new URL("data/kubernetes-openapi.json", root), "utf8")) as OpenApi;
for (const definition of Object.values(openapi.definitions)) {
  // A misspelt field is what such a check is for.
  if (definition.properties !== undefined) definition.additionalProperties ??= false;
}
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: "kubernetes", definitions: openapi.definitions });

/** Kinds that are not Kubernetes' own. */
const FOREIGN = /^(cert-manager\.io|monitoring\.coreos\.com)\//;

function assertValid(manifests: readonly Manifest[]): void {
  for (const manifest of manifests) {
    const key = `${manifest.apiVersion}/${manifest.kind}`;
    if (FOREIGN.test(key)) continue;
    const name = openapi.kinds[key];
    assert.ok(name, key);
    const valid = ajv.validate({ $ref: `kubernetes#/definitions/${name}` }, manifest);
    assert.ok(valid, `${key} ${manifest.metadata.name}: ${ajv.errorsText()}`);
  }
}

function kinds(manifests: readonly Manifest[]): string[] {
  return manifests.map(({ kind }) => kind).sort();
}

const EVERYTHING = {
  autoscaling: { enabled: true },
  serviceMonitor: { enabled: true },
  serviceAccount: {
    annotations: { a: "b" },
    rules: [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] }],
  },
  tls: { clientCaSecretName: "client-ca", caBundle: "QUFB" },
  workers: 2,
  env: [{ name: "KUBEWARDEN_POLICY_TIMEOUT", value: "5" }],
  extraVolumes: [{ name: "modules", emptyDir: {} }],
  extraVolumeMounts: [{ name: "modules", mountPath: "/modules" }],
  imagePullSecrets: [{ name: "pull" }],
  podAnnotations: { a: "b" },
  nodeSelector: { a: "b" },
  tolerations: [{ operator: "Exists" }],
  affinity: { podAntiAffinity: {} },
  webhooks: [
    {
      name: "one",
      policy: "one",
      rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }],
    },
    {
      name: "two",
      policy: "two",
      mutating: true,
      objectSelector: { matchLabels: { a: "b" } },
      matchConditions: [{ name: "c", expression: "true" }],
      rules: [],
    },
  ],
};

describe("the Helm chart", () => {
  test("renders valid manifests with its defaults, with everything on, and with little", () => {
    const usual = renderChart();
    assertValid(usual);
    assert.deepEqual(kinds(usual), [
      "Certificate",
      "ConfigMap",
      "Deployment",
      "Issuer",
      "PodDisruptionBudget",
      "Service",
      "ServiceAccount",
      "ValidatingWebhookConfiguration",
    ]);
    const full = renderChart(EVERYTHING);
    assertValid(full);
    for (const kind of [
      "HorizontalPodAutoscaler",
      "MutatingWebhookConfiguration",
      "ServiceMonitor",
      "ClusterRole",
      "ClusterRoleBinding",
    ]) {
      assert.ok(kinds(full).includes(kind), kind);
    }
    const little = renderChart({
      existingPolicies: "mine",
      webhooks: [],
      podDisruptionBudget: { enabled: false },
      tls: { certManager: { enabled: false } },
    });
    assertValid(little);
    assert.deepEqual(kinds(little), ["Deployment", "Service", "ServiceAccount"]);
  });

  test("the policies are the ones given, as a map or as text", () => {
    const config = (changes: Values): unknown => {
      const [map] = renderChart(changes).filter(({ kind }) => kind === "ConfigMap");
      return parse(map?.data?.["policies.yaml"] ?? "");
    };
    assert.deepEqual(Object.keys(config({}) as object), ["no-host-network"]);
    assert.deepEqual(config({ policies: "a:\n  module: file:///x.wasm\n" }), { a: { module: "file:///x.wasm" } });
  });

  test("the container may do nothing that it need not", () => {
    const [deployment] = renderChart().filter(({ kind }) => kind === "Deployment");
    const pod = (deployment?.spec?.template as PodTemplate | undefined)?.spec;
    assert.equal(pod?.securityContext.runAsNonRoot, true);
    assert.deepEqual(pod?.containers[0]?.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("every variable it sets is one that the server reads", () => {
    const known = new Set<string>(SERVE_OPTIONS.map(({ env }) => env));
    const [deployment] = renderChart(EVERYTHING).filter(({ kind }) => kind === "Deployment");
    const names = JSON.stringify(deployment).match(/KUBEWARDEN_[A-Z_]+/g) ?? [];
    assert.ok(names.length > 10);
    for (const name of names) assert.ok(known.has(name), name);
  });

  test("the API server is told where a webhook's policy is, and never asks about the exempt namespaces", () => {
    const [webhook] = renderChart().filter(({ kind }) => kind === "ValidatingWebhookConfiguration");
    const [hook] = webhook?.webhooks ?? [];
    assert.deepEqual(hook?.clientConfig.service, {
      name: "ps",
      namespace: "policies",
      path: "/validate/no-host-network",
      port: 443,
    });
    assert.deepEqual(hook?.namespaceSelector.matchExpressions[0]?.values, ["policies", "kube-system"]);
    assert.equal(webhook?.metadata.annotations?.["cert-manager.io/inject-ca-from"], "policies/ps");
  });
});

test("the check of manifests finds a misspelt field", () => {
  const broken = renderChart().map((manifest) =>
    manifest.kind === "Deployment" ? { ...manifest, spec: { ...manifest.spec, replica: 2 } } : manifest,
  );
  assert.throws(() => assertValid(broken), /must NOT have additional properties/);
});
