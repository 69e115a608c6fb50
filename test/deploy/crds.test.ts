import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { everySet, files, type Json, type KubernetesObject, objectsOf, ofKind, type Rule, root } from "./objects.js";

const FOLDER = "deploy/helm/policy-server/files/crds/";
const crdFiles = files(FOLDER).filter((file) => !file.endsWith("kustomization.yaml"));
const crds = new Map(crdFiles.flatMap(objectsOf).map((crd) => [crd.metadata.name, crd]));
/** What only policies of all namespaces have, and groups or single policies. */
const OF_SOME = [
  "namespaceSelector",
  "allowInsideAdmissionControllerNamespace",
  "contextAwareResources",
  "module",
  "settings",
  "mutating",
  "timeoutEvalSeconds",
  "expression",
  "policies",
  "message",
];

describe("custom resource definitions", () => {
  test("a file holds one, named after its plural, and its name is made of plural and group", () => {
    for (const file of crdFiles) {
      const [crd, ...more] = objectsOf(file);
      assert.deepEqual(more, []);
      assert.ok(file.endsWith(`/${crd?.spec.names?.plural}.yaml`), file);
      assert.equal(crd?.metadata.name, `${crd?.spec.names?.plural}.${crd?.spec.group}`);
    }
  });

  test("a kustomization names every file beside it, and the chart has a switch for every folder", () => {
    const folders = readdirSync(new URL(FOLDER, root));
    for (const folder of folders) {
      const [component] = objectsOf(`${FOLDER}${folder}/kustomization.yaml`) as unknown as { resources: string[] }[];
      const beside = readdirSync(new URL(`${FOLDER}${folder}/`, root)).filter((name) => name !== "kustomization.yaml");
      assert.deepEqual(component?.resources, beside.sort());
    }
    const [values] = parseYamlDocuments(
      readFileSync(new URL("deploy/helm/policy-server/values.yaml", root), "utf8"),
    ) as [{ crds: Record<string, boolean> }];
    assert.deepEqual(Object.keys(values.crds).sort(), folders.sort());
  });

  test("one version of each is stored", () => {
    for (const [name, { spec }] of crds) {
      const stored = list(spec.versions).filter(({ storage }) => (storage as unknown) === true);
      assert.equal(stored.length, 1, name);
    }
  });

  test("what Kubewarden's four kinds of policies share is the same in all of them", () => {
    const kinds = [
      "clusteradmissionpolicies",
      "admissionpolicies",
      "clusteradmissionpolicygroups",
      "admissionpolicygroups",
    ];
    const [first, ...others] = kinds.map((plural) => shared(crds.get(`${plural}.policies.kubewarden.io`)));
    for (const other of others) assert.deepEqual({ ...other, rules: "" }, { ...first, rules: "" });
    assert.deepEqual(others[1]?.rules, first?.rules);
    assert.deepEqual(others[0]?.rules, others[2]?.rules);
  });

  test("all versions of a kind have the same schema", () => {
    for (const [name, { spec }] of crds) {
      const [first, ...others] = list(spec.versions).map(({ schema }) => schema);
      for (const other of others) assert.deepEqual(other, first, name);
    }
  });
});

describe("rights with policies from the cluster", () => {
  const set = (name: string) => everySet().find((deployed) => deployed.name === name) ?? { name, objects: [] };
  const rightsOf = (name: string): string[] =>
    ["ClusterRole", "Role"]
      .flatMap((kind) => ofKind(set(name), kind).flatMap(({ rules = [] }) => rules.flatMap(rights)))
      .map((right) => right.replace("policy-server-admission", "policy-server"))
      .sort();

  test("are the same in the manifests and in the chart", () => {
    const manifests = rightsOf("deploy/manifests/from-cluster");
    assert.ok(manifests.length > 50);
    assert.deepEqual(rightsOf("Helm, from-cluster-alone"), manifests);
  });

  test("let nothing be read of Secrets but the certificate, and nothing outside of the own namespace", () => {
    for (const name of ["deploy/manifests/from-cluster", "Helm, from-cluster", "Helm, from-cluster-alone"]) {
      const clusterWide = ofKind(set(name), "ClusterRole").flatMap(({ rules = [] }) => rules.flatMap(rights));
      assert.deepEqual(
        clusterWide.filter((right) => right.includes("/secrets")),
        [],
      );
      const own = ofKind(set(name), "Role").flatMap(({ rules = [] }) => rules.flatMap(rights));
      const secrets = own.filter((right) => right.includes("/secrets") && !right.startsWith("create "));
      assert.ok(secrets.length > 0 && secrets.every((right) => right.endsWith(" policy-server-tls")), secrets.join());
    }
  });

  test("only what is asked for is allowed: no rollouts, another kind of reports, no events", () => {
    const fewer = rightsOf("Helm, from-cluster");
    assert.ok(!fewer.includes("patch policies.kubewarden.io/clusteradmissionpolicies"));
    assert.ok(!fewer.some((right) => right.includes("openreports.io")));
    assert.ok(fewer.includes("create events.k8s.io/events"));
    // The API server's flags are for those who enforce what it may enforce itself.
    assert.ok(fewer.includes("get /flagz"));
    assert.ok(!rightsOf("Helm, from-cluster-alone").includes("get /flagz"));
    assert.ok(!rightsOf("Helm, from-cluster-alone").includes("create events.k8s.io/events"));
    assert.ok(!fewer.some((right) => right.startsWith("create ") && right.endsWith("/secrets")));
  });
});

/** `<verb> <group>/<resource> <name>`, each. */
function rights({ apiGroups = [], resources = [], verbs, resourceNames = [""], nonResourceURLs = [] }: Rule): string[] {
  const paths = nonResourceURLs.flatMap((path) => verbs.map((verb) => `${verb} ${path}`));
  const named = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`.trim())),
    ),
  );
  return [...paths, ...named];
}

/** The fields of a kind's spec that the other kinds have as well. */
function shared(crd: KubernetesObject | undefined): Record<string, unknown> {
  const [version] = list(crd?.spec.versions);
  const fields = version?.schema?.openAPIV3Schema?.properties?.spec?.properties ?? {};
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !OF_SOME.includes(name)));
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}
