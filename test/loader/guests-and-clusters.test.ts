/** What guests ask a cluster, all the way: guest, gates, capability, client, API server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import type { Outcome } from "../../src/policy/index.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { context as patience, raw } from "../wasm/support.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const policies = (protocol: string) => `
granted:
  module: test/fixtures/chaos/${protocol}.wasm
  hostCapabilities: ["kubernetes/*"]
  contextAwareResources: [ { apiVersion: v1, kind: Pod }, { apiVersion: v1, kind: Namespace } ]
`;

for (const protocol of ["wapc", "wasi"]) {
  test(`guests by ${protocol} get, list and ask for permissions`, async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", {
      metadata: { name: "a", namespace: "shop", labels: { app: "x" }, managedFields: [{}] },
      spec: { nodeName: "one", containers: [{ name: "c", image: "i" }] },
    });
    server.put("pods", { metadata: { name: "b", namespace: "other" } });
    server.access.set("jane", { allowed: true, reason: "because" });
    const loader = createLoader({
      policyTimeout: 60_000,
      workers: 1,
      downloadDirectory: root,

      kubeconfig: server.kubeconfig(),
    });
    context.after(() => loader.close());
    const read = parseConfig(policies(protocol), `${root}/policies.yaml`);
    assert.ok(read.ok);
    const loaded = await loader.load(read.config);
    const ask = async (operation: string, payload: object): Promise<string> => {
      const mode = `host:kubewarden:kubernetes:${operation}:${JSON.stringify(payload)}`;
      const policy = loaded.policies.entries.get("granted")?.policy;
      const outcome: Outcome | undefined = await policy?.evaluate(raw({ mode }), patience());
      assert.ok(outcome?.verdict === "deny", JSON.stringify(outcome));
      return outcome.message ?? "";
    };
    const answer = async (operation: string, payload: object): Promise<unknown> => {
      const text = await ask(operation, payload);
      assert.ok(text.startsWith("+"), text);
      return JSON.parse(text.slice(1));
    };
    const pods = { api_version: "v1", kind: "Pod" };

    const got = { ...pods, name: "a", namespace: "shop", disable_cache: false, field_masks: ["spec.containers.image"] };
    assert.deepEqual(await answer("get_resource", got), {
      metadata: { name: "a", namespace: "shop", labels: { app: "x" }, managedFields: [{}], resourceVersion: "101" },
      spec: { containers: [{ image: "i" }] },
    });
    const before = server.requests.length;
    await answer("get_resource", got);
    assert.equal(server.requests.length, before, "kept for five seconds");
    await answer("get_resource", { ...got, disable_cache: true });
    assert.equal(server.requests.length, before + 1);

    const masked = { ...pods, field_masks: ["spec.nodeName"] };
    const listed = {
      apiVersion: "v1",
      kind: "PodList",
      metadata: {},
      items: [
        {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "a", namespace: "shop", labels: { app: "x" }, managedFields: [], resourceVersion: "101" },
          spec: { nodeName: "one" },
        },
      ],
    };
    assert.deepEqual(await answer("list_resources_by_namespace", { ...masked, namespace: "shop" }), listed);
    assert.deepEqual(await answer("list_resources_all", { ...masked, label_selector: "app=x" }), listed);

    const review = { user: "jane", resource_attributes: { verb: "get", resource: "pods" } };
    assert.deepEqual(await answer("can_i", { subject_access_review: review, disable_cache: false }), {
      allowed: true,
      reason: "because",
    });
    assert.equal(
      await ask("get_resource", { ...got, name: "absent" }),
      "-Callback evaluation failure: Cannot find v1/Pod named 'absent' inside of namespace 'Some(\"shop\")'",
    );
    assert.equal(
      await ask("list_resources_all", { api_version: "v1", kind: "ConfigMap" }),
      "-Policy has not been granted access to Kubernetes v1/ConfigMap resources. The violation has been reported.",
    );
    assert.equal(
      await ask("list_resources_by_namespace", { api_version: "v1", kind: "Namespace", namespace: "shop" }),
      "-Callback evaluation failure: resource v1/Namespace is cluster wide. Cannot search for it inside of a namespace",
    );
    assert.ok(server.requests.every((request) => !request.includes("configmaps")));
  });
}
