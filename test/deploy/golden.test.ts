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
