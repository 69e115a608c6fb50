import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Ajv } from "ajv";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { chartHash, manifestsHash } from "./chart-hash.js";
import { files, root } from "./objects.js";

const read = (file: string): string => readFileSync(new URL(file, root), "utf8");
const values = [
  "deploy/helm/policy-server/values.yaml",
  ...files("test/vectors/helm/").filter((file) => file.endsWith(".values.yaml")),
];
const fits = new Ajv({ strict: true, allowUnionTypes: true }).compile(
  JSON.parse(read("deploy/helm/policy-server/values.schema.json")),
);

test("what Helm made of the chart was made of this chart (npm run helm-golden -- --write)", () => {
  assert.equal(read("test/vectors/helm/chart.sha256").trim(), chartHash());
});

test("what kustomize made of deploy/manifests was made of these (npm run helm-golden -- --write, with kubectl on the PATH)", () => {
  assert.equal(read("test/vectors/kustomize/manifests.sha256").trim(), manifestsHash());
});

for (const file of values) {
  test(`${file} fits the schema of values`, () => {
    assert.ok(fits(parseYamlDocuments(read(file))[0] ?? {}), JSON.stringify(fits.errors));
  });
}

test("the schema refuses a value that the chart does not know, and one of the wrong kind", () => {
  assert.equal(fits({ replicaCount: 2 }), false);
  assert.equal(fits({ webhooks: { pods: { rules: [], failurePolicy: "fail" } } }), false);
});

test("every value is one that a template uses, and of every key the schema knows", () => {
  const schema = JSON.parse(read("deploy/helm/policy-server/values.schema.json")) as { properties: object };
  const [defaults] = parseYamlDocuments(read("deploy/helm/policy-server/values.yaml")) as [object];
  const known = Object.keys(schema.properties).filter((name) => name !== "global");
  assert.deepEqual(Object.keys(defaults).sort(), known.sort());
  const folder = "deploy/helm/policy-server/templates/";
  const templates = [...files(folder), `${folder}_helpers.tpl`].map(read).join("");
  for (const key of known) assert.match(templates, new RegExp(`\\.Values\\.${key}\\b`), key);
});

test("the schema refuses values that have no effect beside the others, and takes them where they have one", () => {
  const [defaults] = parseYamlDocuments(read("deploy/helm/policy-server/values.yaml")) as [Record<string, unknown>];
  /** As Helm lays values over those of the chart. */
  const over = (below: unknown, above: unknown): unknown =>
    isMap(below) && isMap(above)
      ? { ...below, ...Object.fromEntries(Object.entries(above).map(([key, value]) => [key, over(below[key], value)])) }
      : above;
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const FROM_CLUSTER = { fromCluster: { enabled: true } };
  const WEBHOOKS = {
    policies: { a: {} },
    webhooks: { a: { rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }] } },
  };
  const SECRET = { certificate: { certManager: false, existingSecret: "s" } };
  const cases: readonly (readonly [without: object, value: object, withIt: object])[] = [
    [{}, { exemptNamespaces: ["kube-system", "a-*"] }, FROM_CLUSTER],
    [{}, { exemptNamespaces: ["kube-system", "a-*"] }, WEBHOOKS],
    [{}, { exemptNamespaces: [] }, FROM_CLUSTER],
    [{}, { fromCluster: { policyServerName: "x" } }, FROM_CLUSTER],
    [{}, { fromCluster: { exceptionNamespaces: ["a"] } }, FROM_CLUSTER],
    [{}, { fromCluster: { events: true } }, FROM_CLUSTER],
    [{}, { fromCluster: { rollouts: false } }, FROM_CLUSTER],
    [{}, { crds: { kyverno: true } }, FROM_CLUSTER],
    [{}, { audit: { intervalSeconds: 60 } }, FROM_CLUSTER],
    [over(FROM_CLUSTER, { audit: { intervalSeconds: 0 } }) as object, { audit: { reports: "none" } }, FROM_CLUSTER],
    [{}, { webhookDomain: "a.example" }, WEBHOOKS],
    [{}, { certificate: { ownAuthority: false } }, FROM_CLUSTER],
    [FROM_CLUSTER, { certificate: { issuerRef: { name: "i" } } }, {}],
    [{}, { certificate: { existingSecret: "s" } }, { certificate: { certManager: false } }],
    [SECRET, { certificate: { caBundle: "c" } }, over(SECRET, WEBHOOKS) as object],
    [SECRET, { certificate: { issuerRef: { name: "i" } } }, {}],
    [{}, { approver: { signers: ["i/*"] } }, { approver: { policy: "a" } }],
    [{ existingPolicies: "mine" }, { policies: { a: {} } }, {}],
    [{}, { replicas: 3 }, { autoscaling: { enabled: false } }],
    [{ autoscaling: { enabled: false } }, { autoscaling: { minReplicas: 3 } }, {}],
    [{ disruptionBudget: { enabled: false } }, { disruptionBudget: { minAvailable: 2 } }, {}],
    [{ networkPolicy: { enabled: false } }, { networkPolicy: { metricsFrom: [] } }, {}],
    [{}, { serviceMonitor: { interval: "1m" } }, { serviceMonitor: { enabled: true } }],
    [{}, { prometheusRule: { labels: { a: "b" } } }, { prometheusRule: { enabled: true } }],
  ];
  for (const [without, value, withIt] of cases) {
    const of = (mode: object) => fits(over(over(defaults, mode), value));
    assert.equal(of(without), false, `${JSON.stringify(value)} beside ${JSON.stringify(without)}`);
    assert.equal(
      of(withIt),
      true,
      `${JSON.stringify(value)} beside ${JSON.stringify(withIt)}: ${JSON.stringify(fits.errors)}`,
    );
  }
  for (const name of ["*", "A", "a_b", "-a", "a-", ""])
    assert.equal(fits(over(defaults, { ...FROM_CLUSTER, exemptNamespaces: [name] })), false, name);
});
