import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { loadConfig } from "../../src/config/index.js";
import { type ClusterNeed, createLoader } from "../../src/loader/index.js";

const folder = mkdtempSync(join(tmpdir(), "needs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const loader = createLoader({ downloadDirectory: folder });
after(() => loader.close());

/** The policies that need a cluster, and what is said of them, of a configuration with these documents in `resource.yaml`. */
async function needs(policies: string, documents = ""): Promise<readonly ClusterNeed[]> {
  writeFileSync(join(folder, "policies.yaml"), policies);
  writeFileSync(join(folder, "resource.yaml"), documents);
  const read = loadConfig(join(folder, "policies.yaml"));
  assert.ok(read.ok, JSON.stringify(read.problems));
  assert.deepEqual(read.problems, []);
  return (await loader.load(read.config)).clusterNeeded;
}

const needing = async (policies: string, documents?: string): Promise<readonly string[]> =>
  (await needs(policies, documents)).map(({ id }) => id);

/** What is said of the only one that needs a cluster, with line and column. */
async function said(policies: string, documents?: string): Promise<string> {
  const [need, ...others] = await needs(policies, documents);
  assert.deepEqual(others, []);
  const { warning } = need ?? {};
  assert.equal(warning?.severity, "warning");
  return `${warning?.line}:${warning?.column} ${warning?.path.join(".")}: ${warning?.message}`;
}

const guest = (more: string) => `p:\n  module: x.wasm\n${more}`;
const inline = (expression: string) => `p:\n  cel: { validations: [ { expression: "${expression}" } ] }\n`;
const policy = (expression: string, spec = "") => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: v }
spec:
  matchConstraints: { resourceRules: [ { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] } ] }
  validations: [ { expression: "${expression}" } ]
${spec}`;
const binding = (spec: string) => `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: b }
spec: { policyName: v, validationActions: [Deny], ${spec} }
`;
const NAMESPACE = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n";
const CONFIG_MAP = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}\n";
const PARAM_KIND = "  paramKind: { apiVersion: v1, kind: ConfigMap }\n";
const RESOURCE = "p: { resource: resource.yaml }\n";
const selector = (label: string) => `matchResources: { namespaceSelector: { matchLabels: { ${label}: x } } }`;

describe("a policy needs a cluster", () => {
  const NEEDING = {
    "with kinds that its guest may read": [guest("  contextAwareResources: [ { apiVersion: v1, kind: Pod } ]")],
    "with a Kubernetes capability": [guest('  hostCapabilities: ["kubernetes/can_i"]')],
    "with all Kubernetes capabilities": [guest('  hostCapabilities: ["kubernetes/*"]')],
    "with an expression that asks the authorizer": [
      inline("authorizer.group('').resource('pods').check('get').allowed()"),
    ],
    "with an expression about the Namespace": [inline("namespaceObject.metadata.name != ''")],
    "with parameters that no document brings": [
      RESOURCE,
      policy("true", PARAM_KIND) + binding("paramRef: { name: c, parameterNotFoundAction: Deny }"),
    ],
    "with a selector on labels of Namespaces": [RESOURCE, policy("true") + binding(selector("env"))],
  } as const;
  for (const [name, [policies, documents]] of Object.entries(NEEDING)) {
    test(name, async () => assert.deepEqual(await needing(policies, documents), ["p"]));
  }

  test("as a member of a group", async () => {
    const group = `g:\n  expression: "m()"\n  message: 'no'\n  policies:\n    m: { cel: { validations: [ { expression: "namespaceObject != null" } ] } }\n`;
    assert.deepEqual(await needing(group), ["g/m"]);
  });
});

describe("a policy does without a cluster", () => {
  const CONTENT = {
    "when its guest is granted everything but nothing of Kubernetes in particular": [
      guest('  hostCapabilities: ["*"]'),
    ],
    "when it only judges the request": [inline("object.metadata.name != ''")],
    "when its guest asks for other things": [guest('  hostCapabilities: ["oci/*", "net/v1/dns_lookup_host"]')],
    "when its parameters stand beside it": [
      RESOURCE,
      policy("true", PARAM_KIND) + binding("paramRef: { name: c, parameterNotFoundAction: Deny }") + CONFIG_MAP,
    ],
    "when no binding names a parameter": [RESOURCE, policy("true", PARAM_KIND) + binding("")],
    "when Namespaces stand beside it": [
      RESOURCE,
      policy("namespaceObject != null") + binding(selector("env")) + NAMESPACE,
    ],
    "when it selects Namespaces by name": [RESOURCE, policy("true") + binding(selector("kubernetes.io/metadata.name"))],
  } as const;
  for (const [name, [policies, documents]] of Object.entries(CONTENT)) {
    test(name, async () => assert.deepEqual(await needing(policies, documents), []));
  }
});

describe("what is said of a policy that needs a cluster", () => {
  const DENIED = "without one requests for which it asks are denied";

  test("names the documents that would do instead", async () => {
    assert.equal(
      await said(RESOURCE, policy("true") + binding(selector("env"))),
      `1:16 p.resource: asks a cluster for the labels of Namespaces: ${DENIED}, unless its failurePolicy is Ignore. Write Namespaces as YAML documents beside it (add their file to \`resource\`), or name a cluster with --kubeconfig`,
    );
    assert.equal(
      await said(inline("namespaceObject != null")),
      `2:8 p.cel: asks a cluster for \`namespaceObject\`: ${DENIED}. Write Namespaces as YAML documents beside it (move the policy to a file and name both under \`resource\`), or name a cluster with --kubeconfig`,
    );
  });

  test("does not where only a cluster can tell", async () => {
    assert.equal(
      await said(inline("authorizer.group('').resource('pods').check('get').allowed()")),
      `2:8 p.cel: asks a cluster for \`authorizer\`: ${DENIED}. Name one with --kubeconfig`,
    );
  });

  test("is nothing where the policy can't be loaded", async () => {
    const [need] = await needs(guest('  hostCapabilities: ["kubernetes/can_i"]'));
    assert.equal(need?.id, "p");
    assert.equal(need.warning, undefined);
  });
});
