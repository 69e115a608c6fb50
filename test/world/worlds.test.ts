import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AuthorizerAttributes } from "../../src/world/authorizer/authorizer.js";
import { clusterWorld, warmUp } from "../../src/world/cluster.js";
import { FileResources } from "../../src/world/resources/file-resources.js";
import { LookupFailure, type ResourceSource } from "../../src/world/resources/resource-source.js";
import { worldOf } from "../../src/world/world.js";

const now = () => 0;
const KIND = { group: "", version: "v1", kind: "ConfigMap" };
const namespace = (name: string, labels: object) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});
const labelsOf = (found: unknown) => (found as { metadata: { labels: unknown } }).metadata.labels;
const QUESTION = {} as AuthorizerAttributes;

describe("the world of documents", () => {
  const objects = [namespace("a", { from: "document" })];

  test("makes up what it does not bring when there is nobody to ask", () => {
    const { resources, authorizer } = worldOf(objects, now);
    assert.deepEqual(labelsOf(resources.namespace("a")), { from: "document" });
    assert.deepEqual(labelsOf(resources.namespace("b")), { "kubernetes.io/metadata.name": "b" });
    assert.deepEqual(authorizer.authorize(QUESTION), { decision: "noOpinion", reason: "" });
  });

  test("asks who stands behind it, and makes up nothing", () => {
    const behind = {
      resources: new FileResources([namespace("a", { from: "behind" }), namespace("b", { from: "behind" })]),
      authorizer: { authorize: () => ({ decision: "allow", reason: "" }) as const },
    };
    const { resources, authorizer } = worldOf(objects, now, behind);
    assert.deepEqual(labelsOf(resources.namespace("a")), { from: "document" });
    assert.deepEqual(labelsOf(resources.namespace("b")), { from: "behind" });
    assert.equal(resources.namespace("c"), undefined);
    assert.equal(authorizer, behind.authorizer);
  });

  test("a cluster that is wanted and not there fails every question", async () => {
    const world = clusterWorld({ missing: "no kubeconfig" }, undefined, now);
    assert.ok(world?.absent);
    assert.ok(world.resources.namespace("a") instanceof LookupFailure);
    const { error } = await world.authorizer.authorize(QUESTION);
    assert.match(error ?? "", /not initialized/);
    assert.equal(clusterWorld(undefined, undefined, now), undefined);
  });
});

describe("warming up", () => {
  test("asks for a Namespace and the parameters, and ends when they are there", async () => {
    const asked: string[] = [];
    const resources = {
      namespace: (name: string) => {
        asked.push(name);
        return Promise.resolve(undefined);
      },
      list: ({ kind }: typeof KIND) => {
        asked.push(kind);
        return Promise.resolve([]);
      },
    } as unknown as ResourceSource;
    const began = performance.now();
    await warmUp({ resources }, [KIND]);
    assert.ok(performance.now() - began < 1_500);
    assert.deepEqual(asked, ["default", "ConfigMap"]);
  });

  test("does not wait for a cluster that does not answer", async () => {
    const resources = { namespace: () => new Promise(() => {}) } as unknown as ResourceSource;
    const began = performance.now();
    await warmUp({ resources }, []);
    const took = performance.now() - began;
    assert.ok(took > 1_900 && took < 10_000, String(took));
  });
});
