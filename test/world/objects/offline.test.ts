import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { externalWith, NO_EXTERNAL, NO_OBJECTS } from "../../../src/world/external.js";
import { ContextObjects } from "../../../src/world/objects/context-objects.js";
import { KnownKinds } from "../../../src/world/objects/known-kinds.js";
import { LayeredObjects } from "../../../src/world/objects/layered-objects.js";
import { MemoryObjects } from "../../../src/world/objects/memory-objects.js";
import { Crash, type ObjectSource } from "../../../src/world/objects/object-source.js";
import { commandLineData } from "../../../src/world/offline-values.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";

const configMap = (namespace: string, name: string, labels: Record<string, string> = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace, labels },
});
const namespace: JsonObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
const place = { apiVersion: "v1", resource: "configmaps", namespace: "a" };
const namesOf = (list: unknown): readonly string[] =>
  (list as { readonly items: readonly { readonly metadata: { readonly name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );

describe("objects of a context file", () => {
  const file = new ContextObjects([
    { resource: { group: "", version: "v1", resource: "configmaps" }, object: configMap("a", "one", { x: "y" }) },
    { resource: { group: "", version: "v1", resource: "configmaps" }, object: configMap("b", "two") },
    { resource: { group: "", version: "v1", resource: "namespaces" }, object: namespace },
  ]);

  test("are found by version, resource, namespace and name; others do not exist", () => {
    assert.deepEqual(file.get(place, "one"), configMap("a", "one", { x: "y" }));
    assert.equal(file.get(place, "two"), undefined);
    assert.equal(file.get({ ...place, resource: "pods" }, "one"), undefined);
    assert.equal(file.get({ ...place, apiVersion: "v2" }, "one"), undefined);
    assert.deepEqual(
      file.get({ ...place, apiVersion: "a/b/c" }, "one"),
      new LookupFailure("unexpected GroupVersion string: a/b/c"),
    );
  });

  test("are listed by exactly their namespace, and whatever labels are wanted", () => {
    assert.deepEqual(namesOf(file.list(place)), ["one"]);
    assert.deepEqual(namesOf(file.list({ ...place, namespace: "" })), []);
    assert.deepEqual(namesOf(file.list({ apiVersion: "v1", resource: "namespaces", namespace: "" })), ["team"]);
    assert.deepEqual(namesOf(file.list({ ...place, namespace: "c" })), []);
  });

  test("a list of what the file has no object of is an error, without a file of anything", () => {
    const deployments = { apiVersion: "apps/v1", resource: "deployments", namespace: "a" };
    assert.deepEqual(file.list(deployments), new LookupFailure("deployments.apps resource not found"));
    assert.deepEqual(new ContextObjects().list(place), new LookupFailure("configmaps resource not found"));
    assert.equal(new ContextObjects().get(place, "one"), undefined);
  });

  test("nothing is created, and no kind has a resource", () => {
    assert.deepEqual(file.create(), new Crash("not implemented"));
    assert.deepEqual(file.resourceOf(), new Crash("not implemented"));
  });
});

describe("a cluster of documents", () => {
  const cluster = (): MemoryObjects =>
    new MemoryObjects([
      configMap("a", "one", { x: "y" }),
      configMap("b", "two"),
      namespace,
      { apiVersion: "v1", kind: "Odd" },
    ]);

  test("lists all namespaces, or one, and looks at labels", () => {
    const all = { ...place, namespace: "" };
    assert.deepEqual(namesOf(cluster().list(all, {})), ["one", "two"]);
    assert.deepEqual(namesOf(cluster().list(place, {})), ["one"]);
    assert.deepEqual(namesOf(cluster().list(all, { x: "y" })), ["one"]);
    assert.deepEqual(namesOf(cluster().list(all, { x: "z" })), []);
    assert.ok(cluster().list({ ...place, resource: "secrets" }, {}) instanceof LookupFailure);
  });

  test("has objects that name no namespace in `default`, where their kind lives in namespaces", () => {
    const objects = new MemoryObjects([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "bare" } }, namespace]);
    const found = objects.get({ ...place, namespace: "default" }, "bare");
    assert.deepEqual(found, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "bare", namespace: "default" } });
    assert.deepEqual(namesOf(objects.list({ ...place, namespace: "default" }, {})), ["bare"]);
    assert.deepEqual(objects.get({ apiVersion: "v1", resource: "namespaces", namespace: "" }, "team"), namespace);
  });

  test("has what is created in it, once", () => {
    const objects = cluster();
    const created = objects.create(place, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new" } });
    assert.deepEqual(created, objects.get(place, "new"));
    assert.deepEqual(
      objects.create(place, configMap("a", "new")),
      new LookupFailure('configmaps "new" already exists'),
    );
  });

  test("knows built-in kinds and those that are defined", () => {
    const definition: JsonObject = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { kind: "Wolf", plural: "wolves" },
        versions: [{ name: "v1" }],
      },
    };
    const wolf = { apiVersion: "example.com/v1", kind: "Wolf", metadata: { name: "w", namespace: "a" } };
    const objects = new MemoryObjects([definition, wolf]);
    const wolves = { group: "example.com", version: "v1", resource: "wolves" };
    assert.deepEqual(objects.resourceOf("example.com/v1", "Wolf"), wolves);
    assert.deepEqual(objects.get({ apiVersion: "example.com/v1", resource: "wolves", namespace: "a" }, "w"), wolf);
    assert.deepEqual(objects.resourceOf("networking.k8s.io/v1", "Ingress"), {
      group: "networking.k8s.io",
      version: "v1",
      resource: "ingresses",
    });
    assert.deepEqual(objects.resourceOf("v1", "Odd"), new LookupFailure('no matches for kind "Odd" in version "v1"'));
    assert.equal(new KnownKinds().find({ group: "example.com", version: "v1", kind: "Wolf" }), undefined);
  });
});

describe("documents in front of a cluster", () => {
  const behind: ObjectSource = {
    get: (_place, name) => (name === "behind" ? configMap("a", "behind") : undefined),
    list: () => ({
      kind: "ConfigMapList",
      items: [configMap("a", "behind"), configMap("a", "one", { from: "behind" })],
    }),
    create: (_place, object) => object,
    resourceOf: () => ({ group: "x", version: "v1", resource: "y" }),
  };
  const documents = new MemoryObjects([configMap("a", "one")]);

  test("win over its objects, and are added to them", async () => {
    const objects = new LayeredObjects(documents, behind);
    assert.deepEqual(await objects.get(place, "one"), configMap("a", "one"));
    assert.deepEqual(await objects.get(place, "behind"), configMap("a", "behind"));
    const list = await objects.list(place, {});
    assert.deepEqual((list as JsonObject).items, [configMap("a", "behind"), configMap("a", "one")]);
    // The document is what exists, also where it has not the wanted labels.
    assert.deepEqual(namesOf(await objects.list(place, { from: "behind" })), ["behind"]);
    assert.deepEqual(objects.resourceOf("x/v1", "Y"), { group: "x", version: "v1", resource: "y" });
  });

  test("are not all there is: without one nobody knows of others, nor whether a list is whole", () => {
    const objects = new LayeredObjects(documents, NO_OBJECTS);
    assert.deepEqual(objects.get(place, "one"), configMap("a", "one"));
    assert.ok(objects.get(place, "other") instanceof LookupFailure);
    assert.ok(objects.get({ ...place, namespace: "b" }, "one") instanceof LookupFailure);
    assert.ok(objects.list(place, {}) instanceof LookupFailure);
    const secrets = { ...place, resource: "secrets" };
    assert.ok(objects.get(secrets, "other") instanceof LookupFailure);
    assert.ok(objects.list(secrets, {}) instanceof LookupFailure);
    assert.ok(objects.create(place, configMap("a", "new")) instanceof LookupFailure);
  });

  test("leave the command line its nulls", () => {
    const external = externalWith([configMap("a", "one")], commandLineData({}, NO_EXTERNAL.http));
    assert.equal(external.objects.get(place, "other"), undefined);
    assert.deepEqual(external.objects.get(place, "one"), configMap("a", "one"));
  });
});
