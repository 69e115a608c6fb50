/** `serve --from-cluster` in several processes, against an API server of the test's own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { policyRoute } from "../../src/cluster/replicas/route-hash.js";
import { text } from "../../src/kubernetes/object.js";
import { define } from "../cluster/support.js";
import { kyvernoPolicy } from "../config/from-cluster/support.js";
import { FakeApiServer, type TestObject } from "../kubernetes/client/fake-api-server.js";
import { until } from "../kubernetes/client/support.js";
import { startExample } from "../support/example-server.js";

const PLURAL = "validatingpolicies";

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
