/** Pods that are found in objects of any kind. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { extractPodTemplates, MOST_VALUES, podRequests } from "../../../../src/kinds/kyverno/autogen/extraction.js";
import { member } from "../../../../src/kubernetes/object.js";
import type { AdmissionRequest } from "../../../../src/policy/index.js";

const SPEC = { containers: [{ name: "c", image: "nginx" }] };
function pathsIn(spec: unknown): readonly string[] {
  const templates = extractPodTemplates({ spec });
  assert.ok(templates !== "too-large");
  return templates.map(({ path }) => path);
}

function requestFor(members: Partial<AdmissionRequest>): AdmissionRequest {
  return {
    uid: "u",
    kind: { group: "jobset.x-k8s.io", version: "v1alpha2", kind: "JobSet" },
    resource: { group: "jobset.x-k8s.io", version: "v1alpha2", resource: "jobsets" },
    requestKind: { group: "jobset.x-k8s.io", version: "v1", kind: "JobSet" },
    name: "js",
    namespace: "team-a",
    operation: "UPDATE",
    userInfo: { username: "alice" },
    ...members,
  };
}
const jobSet = (spec: object): object => ({ apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet", spec });

describe("pod templates", () => {
  test("are found at any depth of the spec, in the order of their keys", () => {
    assert.deepEqual(pathsIn({ b: { t: { spec: SPEC } }, a: [{ x: 1 }, { t: { metadata: {}, spec: SPEC } }] }), [
      "spec.a[1].t",
      "spec.b.t",
    ]);
  });

  test("are not looked for outside of the spec, nor in one another", () => {
    assert.deepEqual(extractPodTemplates({ status: { t: { spec: SPEC } }, metadata: { t: { spec: SPEC } } }), []);
    assert.deepEqual(pathsIn({ t: { spec: { ...SPEC, inner: { spec: SPEC } } } }), ["spec.t"]);
  });

  test("have metadata that is a map and containers with a name and an image", () => {
    const not: readonly object[] = [
      { metadata: null, spec: SPEC },
      { metadata: "x", spec: SPEC },
      { spec: { containers: [] } },
      { spec: { containers: [{ name: "c" }] } },
      { spec: { containers: [{ name: "", image: "x" }] } },
      { spec: { containers: [...SPEC.containers, "x"] } },
      { spec: { containers: { name: "c", image: "x" } } },
    ];
    for (const template of not) assert.deepEqual(pathsIn({ template }), [], JSON.stringify(template));
    assert.deepEqual(pathsIn({ template: { spec: { containers: [{ name: "c", image: "" }] } } }), ["spec.template"]);
  });
});

describe("requests for pods", () => {
  test("are the parent's, about a Pod", () => {
    const object = jobSet({ t: { metadata: { labels: { a: "b" } }, spec: SPEC } });
    const before = jobSet({ t: { metadata: { name: "old", namespace: "other" }, spec: SPEC }, u: { spec: SPEC } });
    const requests = requestsOf(requestFor({ object, oldObject: before, subResource: "scale", options: { a: 1 } }));
    const kind = { group: "", version: "v1", kind: "Pod" };
    const resource = { group: "", version: "v1", resource: "pods" };
    assert.deepEqual(requests, [
      {
        path: "spec.t",
        request: {
          uid: "u",
          kind,
          resource,
          requestKind: kind,
          requestResource: resource,
          subResource: "scale",
          requestSubResource: "scale",
          name: "js",
          namespace: "team-a",
          operation: "UPDATE",
          userInfo: { username: "alice" },
          options: { a: 1 },
          object: {
            apiVersion: "v1",
            kind: "Pod",
            metadata: { labels: { a: "b" }, name: "js", namespace: "team-a" },
            spec: SPEC,
          },
          oldObject: { apiVersion: "v1", kind: "Pod", metadata: { name: "old", namespace: "other" }, spec: SPEC },
        },
      },
    ]);
  });

  test("carry the template's own name and namespace", () => {
    const object = jobSet({ t: { metadata: { name: "own", namespace: "ns" }, spec: SPEC } });
    const [first] = requestsOf(requestFor({ object }));
    assert.deepEqual(
      [first?.request.name, first?.request.namespace, first?.request.oldObject],
      ["own", "ns", undefined],
    );
  });

  test("are made of the old object when it goes away", () => {
    const [first] = requestsOf(requestFor({ operation: "DELETE", oldObject: jobSet({ t: { spec: SPEC } }) }));
    assert.equal(first?.request.object, undefined);
    assert.deepEqual(member(first?.request.oldObject, "spec"), SPEC);
  });

  test("are made of the objects as policies see them", () => {
    const seen = jobSet({ t: { spec: { ...SPEC, priority: Object(1) } } });
    const [first] = requestsOf(requestFor({ object: jobSet({}) }), { object: seen });
    assert.deepEqual(member(first?.request.object, "spec"), { ...SPEC, priority: Object(1) });
  });

  test("are not made of more values than are looked through", () => {
    const many = jobSet({ x: Array.from({ length: MOST_VALUES }, () => 0) });
    const wide = jobSet(Object.fromEntries(Array.from({ length: MOST_VALUES }, (_, i) => [`k${i}`, 0])));
    for (const object of [many, wide]) {
      assert.equal(podRequests(requestFor({ object })), "too-large");
      const small = jobSet({ t: { spec: SPEC } });
      assert.equal(podRequests(requestFor({ object: small, oldObject: object })), "too-large");
    }
  });

  test("are not made of what holds no pod", () => {
    assert.deepEqual(podRequests(requestFor({ object: jobSet({ x: 1 }) })), {
      error: "extraction mode: no pod template found in jobset.x-k8s.io/v1alpha2/JobSet",
    });
    assert.deepEqual(podRequests(requestFor({})), {
      error: "extraction mode: expected an unstructured object, got *unstructured.Unstructured",
    });
  });
});

function requestsOf(...[request, objects]: Parameters<typeof podRequests>) {
  const requests = podRequests(request, objects);
  assert.ok(requests !== "too-large" && !("error" in requests));
  return requests.map((pod) => ({ path: pod.path, request: pod.request() }));
}
