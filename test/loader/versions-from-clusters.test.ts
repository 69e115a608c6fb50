/** The versions of resources that policies' rules name, asked of a cluster. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import type { AdmissionQuestion } from "../../src/policy/review.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { context as patience } from "../wasm/support.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const policy = (resource: string): string => `
p:
  cel:
    matchConstraints:
      resourceRules: [{ apiGroups: ["acme.example"], apiVersions: [v1], operations: [CREATE], resources: [${resource}] }]
    validations: [{ expression: "false", message: "matched" }]
`;

async function said(context: TestContext, kubeconfig: string, version: string, resource = "limits") {
  const loader = createLoader({
    policyTimeout: 60_000,
    workers: 1,
    downloadDirectory: root,
    kubeconfig,
    ignoreMissingCluster: true,
  });
  context.after(() => loader.close());
  const read = parseConfig(policy(resource), `${root}/policies.yaml`);
  assert.ok(read.ok);
  const loaded = await loader.load(read.config);
  const of = { group: "acme.example", version };
  const review: AdmissionQuestion = {
    kind: "admission",
    request: {
      uid: "u",
      kind: { ...of, kind: "Limit" },
      resource: { ...of, resource: "limits" },
      operation: "CREATE",
      namespace: "nowhere",
      userInfo: {},
      object: { apiVersion: `acme.example/${version}`, kind: "Limit" },
    },
    requestBytes: () => new Uint8Array(),
  };
  const outcome = await loaded.policies.entries.get("p")?.policy?.evaluate(review, patience());
  return `${outcome?.verdict}: ${outcome?.verdict === "skip" ? outcome.reason : outcome?.message}`;
}

test("a policy asks the cluster for versions of a resource when a request comes in another, and for nothing else", async (context) => {
  const server = await FakeApiServer.start(context);
  const cluster = server.kubeconfig();
  assert.equal(await said(context, cluster, "v1"), "deny: matched");
  assert.equal(await said(context, cluster, "v2", "gadgets"), "skip: no resource rule matches");
  assert.deepEqual(new Set(server.requests), new Set(["GET /version"]));
  assert.match(await said(context, cluster, "v2"), /^error: .*failed to convert object version: only the API server/);
  assert.match(await said(context, cluster, "v9"), /^error: .*cannot tell whether acme\.example\/v9 limits are/);
  assert.ok(server.requests.length > 0);
});

test("a cluster that does not answer leaves it an error; without one the policy says what is missing", async (context) => {
  const server = await FakeApiServer.start(context);
  server.special.set("/apis/acme.example", (_, response) => response.writeHead(403).end("{}"));
  const cluster = server.kubeconfig();
  assert.match(await said(context, cluster, "v2"), /^error: failed to configure policy: /);
  assert.match(
    await said(context, "/nonexistent/kubeconfig", "v2"),
    /^error: .*give the CustomResourceDefinition beside/,
  );
});
