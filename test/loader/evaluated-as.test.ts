/** The Kubernetes as which CEL policies are evaluated: as it is asked for, else by the cluster (spec kubernetes-1-38.md 1.2). */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { KubernetesVersion } from "../../src/cel/index.js";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import type { AdmissionQuestion } from "../../src/policy/review.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { context as patience } from "../wasm/support.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Denies what is ordered above 5, and is an error for NaN until 1.38. */
const POLICY = 'p:\n  cel:\n    validations: [{ expression: "!(double(object.data.x) > 5.0)" }]\n';

const gvk = { group: "", version: "v1" };
const review: AdmissionQuestion = {
  kind: "admission",
  request: {
    uid: "u",
    kind: { ...gvk, kind: "ConfigMap" },
    resource: { ...gvk, resource: "configmaps" },
    operation: "CREATE",
    namespace: "default",
    userInfo: {},
    object: { apiVersion: "v1", kind: "ConfigMap", data: { x: "NaN" } },
  },
  requestBytes: () => new Uint8Array(),
};

async function verdict(context: TestContext, kubernetesVersion?: KubernetesVersion, kubeconfig?: string) {
  const loader = createLoader({ workers: 1, downloadDirectory: root, kubernetesVersion, kubeconfig });
  context.after(() => loader.close());
  const read = parseConfig(POLICY, `${root}/policies.yaml`);
  assert.ok(read.ok);
  const loaded = await loader.load(read.config);
  return (await loaded.policies.entries.get("p")?.policy?.evaluate(review, patience()))?.verdict;
}

async function clusterOf(context: TestContext, minor: string): Promise<string> {
  const server = await FakeApiServer.start(context);
  server.special.set("/version", (_, response) => response.end(JSON.stringify({ major: "1", minor })));
  return server.kubeconfig();
}

test("policies are evaluated as 1.37 does unless another version is asked for", async (context) => {
  assert.equal(await verdict(context), "error");
  assert.equal(await verdict(context, "1.37"), "error");
  assert.equal(await verdict(context, "1.38"), "allow");
});

test("in a cluster they are evaluated as its API server does, unless another version is asked for", async (context) => {
  const [newer, older] = [await clusterOf(context, "40"), await clusterOf(context, "34")];
  assert.equal(await verdict(context, undefined, newer), "allow");
  assert.equal(await verdict(context, "1.37", newer), "error");
  assert.equal(await verdict(context, undefined, older), "error");
});

test("a cluster that does not tell its version is taken for one of 1.37", async (context) => {
  const server = await FakeApiServer.start(context);
  server.special.set("/version", (_, response) => response.writeHead(403).end("{}"));
  assert.equal(await verdict(context, undefined, server.kubeconfig()), "error");
});
