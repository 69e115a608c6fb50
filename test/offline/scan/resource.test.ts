import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { KnownKinds } from "../../../src/offline/scan/known-kinds.js";
import { admissionInput, requestFor } from "../../../src/offline/scan/request.js";
import { type Resource, readResources } from "../../../src/offline/scan/resource.js";
import { ScanError } from "../../../src/offline/scan/scan-error.js";
import type { Batch, Form } from "../../../src/offline/scan/split/batch.js";

const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  spec: { group: "example.com", scope: "Cluster", names: { kind: "Widget", plural: "widgetz" } },
};
const KINDS = new KnownKinds([WIDGETS]);

function read(text: string, form: Form = "json", list?: Batch["list"]): Resource[] {
  const bytes = new Uint8Array(Buffer.from(text));
  return readResources({ file: "f", form, bytes, ends: [bytes.length], lines: [1], ...(list && { list }) }, KINDS);
}

describe("the namespace of an object without one", () => {
  const CASES = [
    ["v1", "Pod", "default"],
    ["v1", "Namespace", ""],
    ["rbac.authorization.k8s.io/v1beta1", "ClusterRole", ""],
    ["example.com/v1", "Widget", ""],
    ["example.com/v1", "Unknown", "default"],
  ] as const;
  for (const [apiVersion, kind, namespace] of CASES) {
    test(`${apiVersion} ${kind}: ${namespace || "none"}`, () => {
      const [resource] = read(JSON.stringify({ apiVersion, kind, metadata: { name: "n" } }));
      assert.ok(resource);
      assert.equal(resource.namespace, namespace);
      const { metadata } = resource.object as { metadata: { namespace?: string } };
      assert.equal(metadata.namespace ?? "", namespace);
    });
  }
});

test("maps that have a key and no value are empty, wherever they stand", () => {
  const [resource] = read(
    "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\nspec:\n  a: [{nodeSelector: , b: }]\n",
    "yaml",
  );
  assert.deepEqual(resource?.object, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { labels: {}, namespace: "default" },
    spec: { a: [{ nodeSelector: {}, b: null }] },
  });
});

test("lists are opened; items that don't say their kind have the list's", () => {
  const names = (text: string, form?: Form) => read(text, form).map(({ kind, name }) => `${kind} ${name}`);
  const pod = { metadata: { name: "a" } };
  assert.deepEqual(names(JSON.stringify({ kind: "PodList", apiVersion: "v1", items: [pod] })), ["Pod a"]);
  assert.deepEqual(names(JSON.stringify({ kind: "PodList", apiVersion: "v1", items: null })), []);
  assert.deepEqual(read(JSON.stringify(pod), "json", { apiVersion: "v1", kind: "Pod" })[0]?.apiVersion, "v1");
});

test("what does not say its kind ends the scan", () => {
  for (const text of ['{"apiVersion":"v1"}', "3", "[]", "{"]) assert.throws(() => read(text), ScanError, text);
});

test("a map of YAML that begins like JSON is read as such", () =>
  assert.equal(read("{apiVersion: v1, kind: Pod}")[0]?.kind, "Pod"));

describe("requests", () => {
  const circumstances = { kinds: KINDS, user: {}, subresources: [] };
  const [resource] = read(
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":3.0}}',
  );
  assert.ok(resource);
  for (const [operation, present, before] of [
    ["CREATE", true, false],
    ["UPDATE", true, true],
    ["DELETE", false, true],
  ] as const) {
    test(operation, () => {
      const request = requestFor(resource, { ...circumstances, operation });
      assert.equal(request.object !== undefined, present);
      assert.equal(request.oldObject !== undefined, before);
      assert.deepEqual(request.resource, { group: "apps", version: "v1", resource: "deployments" });
    });
  }

  test("numbers are integers in the request and doubles for expressions", () => {
    const request = requestFor(resource, { ...circumstances, operation: "CREATE" });
    assert.deepEqual((request.object as { spec: unknown }).spec, { replicas: 3 });
    const shown = admissionInput(request).objects?.object as { spec: { replicas: unknown } };
    assert.ok(shown.spec.replicas instanceof Number);
    assert.equal(admissionInput(request).objects?.oldObject, undefined);
  });

  test("what stands for a subresource is asked about as its parent", () => {
    const subresource = { group: "autoscaling", version: "v1", kind: "Scale" };
    const parentResource = { group: "apps", version: "v1", kind: "Deployment" };
    const [scale] = read('{"apiVersion":"autoscaling/v1","kind":"Scale"}');
    assert.ok(scale);
    const subresources = [{ subresource, parentResource }];
    const request = requestFor(scale, { kinds: KINDS, user: {}, subresources, operation: "CREATE" });
    assert.equal(request.resource.resource, "deployments");
  });
});

describe("the resource of a kind", () => {
  const CASES = [
    ["", "Endpoints", "endpoints"],
    ["networking.k8s.io", "Ingress", "ingresses"],
    ["networking.k8s.io", "NetworkPolicy", "networkpolicies"],
    ["gateway.networking.k8s.io", "Gateway", "gatewaies"],
    ["example.com", "Widget", "widgetz"],
  ] as const;
  for (const [group, kind, resource] of CASES)
    test(`${kind}: ${resource}`, () => assert.equal(KINDS.resourceOf(group, kind), resource));
});
