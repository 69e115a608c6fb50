import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policy, resource, runSuite, validating } from "./suite.js";

const expected = (result: string) => ({ results: [{ policy: "p", result, resources: ["good"] }] });
const PODS = [resource("Pod", "good")];
const NO_KEY = "v1/Pod/default/good: Pass Ok: error: no such key: data";
const PASSED = ["v1/Pod/default/good: Pass Ok: success"];
const CONFIG_MAP = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "cm", namespace: "default" },
  data: { mode: "on" },
};
const ASKS_MAP = policy(validating('resource.Get("v1", "configmaps", "default", "cm").data.mode == "on"'));

describe("a context file", () => {
  const context = (spec: unknown) => ({ apiVersion: "cli.kyverno.io/v1alpha1", kind: "Context", spec });
  const run = (result: string, spec: unknown, of: unknown = ASKS_MAP) =>
    runSuite(
      { ...expected(result), context: "context.yaml" },
      { "policy.yaml": of, "resources.yaml": PODS, "context.yaml": context(spec) },
    );

  test("has the objects that policies ask for; those of the test's resources are not asked", async () => {
    assert.deepEqual((await run("pass", { resources: [CONFIG_MAP] })).rows, PASSED);
    const without = { "policy.yaml": ASKS_MAP, "resources.yaml": [...PODS, CONFIG_MAP] };
    assert.deepEqual((await runSuite(expected("error"), without)).rows, [NO_KEY]);
  });

  test("has the images", async () => {
    const image = { image: "nginx", resolvedImage: "nginx@x", registry: "r", repository: "nginx", config: { a: 1 } };
    const asks = policy(validating('image.GetMetadata("nginx").config.a == 1.0'));
    assert.deepEqual((await run("pass", { images: [image] }, asks)).rows, PASSED);
  });

  test("must be there and right as soon as something is asked", async () => {
    const wrong = await run("pass", { resources: [{ apiVersion: "foo/v1", kind: "Foo", metadata: { name: "x" } }] });
    assert.equal(
      wrong.err,
      'Error: failed to run test (failed to apply policies on resource good (no matches for kind "Foo" in version "foo/v1"))\n',
    );
    const missing = await runSuite(
      { ...expected("pass"), context: "x.yaml" },
      { "policy.yaml": ASKS_MAP, "resources.yaml": PODS },
    );
    assert.match(missing.err, /resource good \(open DIR\/x\.yaml: no such file or directory\)/);
    const unasked = await runSuite({ results: [], context: "x.yaml" }, { "policy.yaml": ASKS_MAP });
    assert.equal(unasked.passed, true);
  });
});

describe("mocks", () => {
  test("answer HTTP requests, others go to the network", async () => {
    const asks = policy(validating('http.Get("http://a.example/x").body.ok == true'));
    const files = { "policy.yaml": asks, "resources.yaml": PODS };
    const apiCallResponses = [{ url: "http://a.example/x", method: "GET", response: { body: { ok: true } } }];
    assert.deepEqual((await runSuite({ ...expected("pass"), apiCallResponses }, files)).rows, PASSED);
    assert.deepEqual((await runSuite(expected("error"), files)).rows, [
      "v1/Pod/default/good: Pass Ok: error: request failed: nobody is asked in this test",
    ]);
    const none = await runSuite({ ...expected("pass"), apiCallResponses: [{ response: { body: {} } }] }, files);
    assert.equal(none.err, "Error: failed to run test (apiCallResponses[0]: either url or urlPath is required)\n");
  });

  test("are the entries of the global context, in the test or in files beside it", async () => {
    const asks = policy(validating('globalContext.Get("e", "names") == ["a"]'));
    const run = (entry: unknown, more = {}) =>
      runSuite(
        { ...expected("pass"), globalContextEntries: [entry] },
        { "policy.yaml": asks, "resources.yaml": PODS, ...more },
      );
    const projections = [{ name: "names", path: "[].metadata.name" }];
    const fromData = await run({
      name: "e",
      data: { items: [{ metadata: { name: "a" } }] },
      fieldPath: "items",
      projections,
    });
    assert.deepEqual(fromData.rows, PASSED);
    const files = { "e.yaml": [resource("Service", "a")] };
    assert.deepEqual((await run({ name: "e", resourceFiles: ["e.yaml"], projections }, files)).rows, PASSED);
    assert.match(
      (await run({ name: "e", resourceFiles: ["none.yaml"] })).err,
      /failed to load globalContextEntries resource files: .*read: open DIR\/none\.yaml: no such file/,
    );
  });
});

describe("cluster resources", () => {
  const cluster = (...resources: unknown[]) => ({
    apiVersion: "cli.kyverno.io/v1alpha1",
    kind: "ClusterResource",
    spec: { resources },
  });
  const run = (of: unknown, resources: readonly unknown[], more = {}) =>
    runSuite(
      { ...expected("pass"), clusterResources: ["cluster.yaml"], ...more },
      {
        "policy.yaml": of,
        "resources.yaml": resources,
        "cluster.yaml": cluster(resource("Namespace", "default"), CONFIG_MAP),
      },
    );

  test("are a cluster with the test's resources, which policies ask", async () => {
    const { rows, out } = await run(ASKS_MAP, PODS);
    assert.deepEqual(rows, PASSED);
    assert.match(out, /\nLoading Kubernetes resources \.\.\.\n {2}Loading exceptions/);
    const pods = policy(validating('resource.List("v1", "pods", "").items.orValue([]).size() == 1'));
    assert.deepEqual((await run(pods, PODS)).rows, PASSED);
  });

  test("must have the Namespaces of resources, unless values have them, and know their kinds", async () => {
    const elsewhere = [...PODS, { ...resource("Pod", "x"), metadata: { name: "x", namespace: "far" } }];
    assert.match(
      (await run(ASKS_MAP, elsewhere)).err,
      /resource x \(failed to get the resource's namespace \(namespaces "far" not found\)\)/,
    );
    const values = { namespaceSelector: [{ name: "far", labels: {} }] };
    assert.deepEqual((await run(ASKS_MAP, elsewhere, { values })).rows, PASSED);
    const unknown = [...PODS, resource("Foo", "f", {}, "foo.io/v1")];
    assert.match(
      (await run(ASKS_MAP, unknown)).err,
      /resource f \(failed to map gvk to gvr foo\.io\/v1, Kind=Foo: no matches for kind "Foo"/,
    );
  });
});
