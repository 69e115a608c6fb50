import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseCapabilities } from "../../../../src/config/capability-patterns.js";
import { type KubernetesReader, type ResourceSnapshot, textsOf } from "../../../../src/kubernetes/reader.js";
import { type Caller, HostCapabilities } from "../../../../src/wasm/host/host.js";
import { kubernetesCapability } from "../../../../src/wasm/host/kubernetes/capability.js";
import { ConfinedSnapshots } from "../../../../src/wasm/host/kubernetes/confinement.js";

const object = (name: string, namespace?: string) => ({ metadata: { name, ...(namespace && { namespace }) } });
const kind = { apiVersion: "v1", kind: "Pod" };

/** A cluster that finds whatever it is asked for; what is called `wide` is in no namespace. */
const cluster: KubernetesReader = {
  get: async (_, { name, namespace }) => object(name, name === "wide" ? undefined : namespace),
  list: () => assert.fail(),
  texts: async (_, { namespace, labelSelector }) =>
    textsOf([labelSelector === "wide" ? object("wide") : object("a", namespace ?? "other")]),
  canI: async () => ({ allowed: true }),
  snapshot: () => assert.fail(),
};

async function ask(operation: string, payload: object, namespace?: string): Promise<string> {
  const capabilities = new HostCapabilities([kubernetesCapability(cluster, () => 0)], () => {});
  const caller: Caller = {
    policy: "p",
    capabilities: parseCapabilities(["*"]),
    contextAwareResources: [kind],
    ...(namespace !== undefined && { namespace }),
  };
  const text = new TextEncoder().encode(
    JSON.stringify({ api_version: "v1", kind: "Pod", disable_cache: false, ...payload }),
  );
  const call = { binding: "kubewarden", namespace: "kubernetes", operation, payload: text };
  const answer = await capabilities.serve(call, { caller, signal: new AbortController().signal });
  return answer.ok ? "data" : answer.error;
}

const review = (namespace?: string) => ({
  subject_access_review: {
    user: "u",
    resource_attributes: { verb: "get", resource: "pods", ...(namespace && { namespace }) },
  },
});

describe("a guest that is confined to a namespace", () => {
  const ASKED: readonly (readonly [string, object, object])[] = [
    ["get_resource", { name: "a", namespace: "team" }, { name: "a", namespace: "other" }],
    ["get_resource", { name: "a", namespace: "team" }, { name: "a" }],
    ["get_resource", { name: "a", namespace: "team" }, { name: "wide", namespace: "team" }],
    ["list_resources_by_namespace", { namespace: "team" }, { namespace: "other" }],
    ["list_resources_by_namespace", { namespace: "team" }, { namespace: "team", label_selector: "wide" }],
    ["list_resources_all", {}, {}],
    ["can_i", review("team"), review("other")],
    ["can_i", review("team"), review()],
  ];
  for (const [operation, own, beyond] of ASKED) {
    test(`by ${operation} gets what is in it, and a clear error for ${JSON.stringify(beyond)}`, async () => {
      if (operation !== "list_resources_all") assert.equal(await ask(operation, own, "team"), "data");
      assert.match(
        await ask(operation, beyond, "team"),
        /^(Callback evaluation failure: )?the policy is confined to the namespace "team": it may ask for objects in it only, and name it$/,
      );
      assert.equal(await ask(operation, beyond), "data", "who is not confined may");
    });
  }

  test("gets its namespace's part of snapshots, the same as long as they are; no kind that is in no namespace", () => {
    const items = [object("a", "team"), object("b", "other"), object("c")];
    const snapshot: ResourceSnapshot = { kind, plural: "pods", namespaced: true, items };
    const confined = new ConfinedSnapshots("team");
    const [first] = confined.snapshots([snapshot]);
    assert.deepEqual(first?.items, [object("a", "team")]);
    assert.equal(confined.snapshots([snapshot])[0]?.items, first?.items);
    assert.throws(() => confined.snapshots([{ ...snapshot, namespaced: false, items: [] }]), /v1\/Pod are in none$/);
  });
});
