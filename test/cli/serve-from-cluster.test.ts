/** `serve --from-cluster` in several processes, against an API server of the test's own. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { policyRoute } from "../../src/cluster/replicas/route-hash.js";
import { text } from "../../src/kubernetes/object.js";
import { define } from "../cluster/support.js";
import { kyvernoPolicy } from "../config/from-cluster/support.js";
import { FakeApiServer, type TestObject } from "../kubernetes/client/fake-api-server.js";
import { until } from "../kubernetes/client/support.js";
import { startExample } from "../support/example-server.js";

const PLURAL = "validatingpolicies";
const PLURALS = "admissionpolicies";

const MODULE = readFileSync(new URL("../../../test/fixtures/trivial/wapc.wasm", import.meta.url));

interface Status {
  readonly conditionStatus?: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

test("a policy that comes while all processes die is loaded by their successors, and its status says so", async (context) => {
  const api = await FakeApiServer.start(context);
  define(api, `${PLURAL}.policies.kyverno.io`);
  api.resources.set("/apis/policies.kyverno.io/v1", [{ name: PLURAL, kind: "ValidatingPolicy", namespaced: false }]);
  const put = (name: string): void => api.put(PLURAL, JSON.parse(kyvernoPolicy(name, "true").text) as TestObject);
  put("a");
  const options = ["--workers", "2", "--manage-webhooks", "false", "--audit-interval", "0", "--replica-name", "one"];
  const server = await startExample("--from-cluster", "--kubeconfig", api.kubeconfig(), ...options);
  context.after(() => server.stop());
  const isLoaded = (name: string): boolean => {
    const { conditionStatus } = (api.object(PLURAL, name)?.status ?? {}) as Status;
    return conditionStatus?.conditions.some(({ type, status }) => type === "Loaded" && status === "True") ?? false;
  };
  await until("the first policy", () => isLoaded("a"));
  const pids = () => [...server.log().matchAll(/serving policies.* pid=(\d+)/g)].map(([, pid]) => Number(pid));
  await until("the word of both", () => pids().length === 2);
  put("b");
  for (const pid of pids()) process.kill(pid, "SIGKILL");
  await until("the second policy", () => isLoaded("b"));
  const annotations = api.object("leases", "policy-server-replica-one", "policy-server")?.metadata.annotations;
  const routes = text(annotations, "policy-server.admission/routes");
  assert.ok(routes.split(",").includes(policyRoute("validatingpolicy-b")), routes);
});

test("a module that comes later is fetched once for all processes, that which audits among them", async (context) => {
  const api = await FakeApiServer.start(context);
  for (const plural of [PLURALS, "policyservers"]) define(api, `${plural}.policies.kubewarden.io`);
  let asked = 0;
  const modules = createServer((_, response) => {
    asked++;
    // The others ask while one waits.
    setTimeout(() => response.end(MODULE), 1_000);
  });
  await new Promise<void>((resolve) => modules.listen(0, "127.0.0.1", resolve));
  context.after(() => void modules.close());
  const host = `127.0.0.1:${(modules.address() as AddressInfo).port}`;
  const folder = mkdtempSync(join(tmpdir(), "serve-modules-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "sources.yml"), `insecure_sources: ["${host}"]\n`);
  const options = ["--workers", "2", "--manage-webhooks", "false", "--replica-name", "one", "--log-level", "debug"];
  const places = ["--policies-download-dir", folder, "--sources-path", join(folder, "sources.yml")];
  const server = await startExample("--from-cluster", "--kubeconfig", api.kubeconfig(), ...options, ...places);
  context.after(() => server.stop());
  await server.said("the audit has begun");
  const spec = { module: `http://${host}/x.wasm`, mutating: false, rules: [], settings: {} };
  const kind = { apiVersion: "policies.kubewarden.io/v1", kind: "AdmissionPolicy" };
  api.put(PLURALS, { ...kind, metadata: { name: "p", namespace: "team" }, spec });
  await until("the policy", async () => {
    const answer = await fetch(`${server.url}/policies`);
    const { policies } = (await answer.json()) as { policies: { id: string; available: boolean }[] };
    return policies.some(({ id, available }) => id === "namespaced-team-p" && available);
  });
  await server.said(/audited the cluster's objects/);
  assert.equal(asked, 1);
});
