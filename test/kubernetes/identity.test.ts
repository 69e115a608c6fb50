/** What an object of a file is: as kubectl and the API server take it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { IdentityError, identify } from "../../src/kubernetes/identity.js";

const HELM = /this is a Helm template: render it with `helm template` first/;
const HELM_IMAGE = "{{ .Values.image }}:{{ .Values.tag }}";
const containers = (image: string) => ({ containers: [{ name: "a", image, args: [HELM_IMAGE] }] });
const pod = (metadata: unknown) => ({ apiVersion: "v1", kind: "Pod", metadata });
const placed = (object: unknown, ...rest: [Parameters<typeof identify>[1]?]): string[] => {
  const { namespace, name, doubt = "", object: made } = identify(object, ...rest);
  const written = (made.metadata as { namespace?: string } | undefined)?.namespace ?? "";
  return [namespace, written, name, doubt.split(" ")[0] ?? ""];
};

describe("the namespace of an object", () => {
  test("is its own, the given one, or default, and stands in the object", () => {
    assert.deepEqual(placed(pod({ name: "a", namespace: "shop" })), ["shop", "shop", "a", ""]);
    assert.deepEqual(placed(pod({ name: "a" })), ["default", "default", "a", ""]);
    assert.deepEqual(placed(pod({ name: "a" }), { namespace: "shop" }), ["shop", "shop", "a", ""]);
    for (const metadata of [undefined, null, {}])
      assert.deepEqual(placed(pod(metadata)).slice(0, 3), ["default", "default", ""]);
  });

  test("that is null is the same as none, in doubt", () => {
    assert.deepEqual(placed(pod({ name: "a", namespace: null })), ["default", "default", "a", "metadata.namespace"]);
  });

  test("there is none for cluster-scoped kinds, in any version, and what is written goes", () => {
    for (const [apiVersion, kind] of [
      ["v1", "Node"],
      ["v1", "Namespace"],
      ["rbac.authorization.k8s.io/v1beta1", "ClusterRole"],
      ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
      ["admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"],
      ["scheduling.k8s.io/v9", "PriorityClass"],
    ])
      for (const namespace of [undefined, "shop"])
        assert.deepEqual(placed({ apiVersion, kind, metadata: { name: "a", namespace } }), ["", "", "a", ""], kind);
  });

  test("of a kind that is not known is default, in doubt, unless it is told", () => {
    const widget = { apiVersion: "acme.example/v1", kind: "Widget", metadata: { name: "a" } };
    assert.deepEqual(placed(widget), ["default", "default", "a", "Widget"]);
    assert.deepEqual(placed({ ...widget, metadata: { name: "a", namespace: "x" } }), ["x", "x", "a", ""]);
    assert.deepEqual(placed(widget, { namespace: "" }), ["", "", "a", ""]);
    assert.deepEqual(placed(widget, { namespaced: () => false }), ["", "", "a", ""]);
    assert.deepEqual(placed(widget, { namespaced: () => true }), ["default", "default", "a", ""]);
    assert.match(identify({ ...widget, apiVersion: "v1", kind: "Podd" }).doubt ?? "", /did you mean "Pod"/);
  });

  test("an object that needs nothing stays itself, and another one is not changed", () => {
    const object = pod({ name: "a", namespace: "shop" });
    assert.equal(identify(object).object, object);
    const bare = pod({ name: "a" });
    identify(bare);
    assert.deepEqual(bare, pod({ name: "a" }));
  });
});

test("braces are taken where a cluster takes them", () => {
  for (const object of [
    { ...pod({ name: "a", annotations: { at: "{{ .Values.at }}" } }), spec: containers("nginx") },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { "a.tpl": "{{ .Values.a }}" } },
    { apiVersion: "argoproj.io/v1alpha1", kind: "Workflow", metadata: { name: "a" }, spec: containers(HELM_IMAGE) },
  ])
    assert.equal(identify(object, { namespaced: () => true }).name, "a");
});

describe("an object that no API server takes", () => {
  const refused: readonly [object: unknown, path: string, reason: RegExp][] = [
    ...[false, true, 123, 1.5, ["a"], { a: "b" }].flatMap((value): [unknown, string, RegExp][] => [
      [pod({ name: "a", namespace: value }), "metadata.namespace", /not a text/],
      [pod({ name: value }), "metadata.name", /not a text/],
      [pod({ generateName: value }), "metadata.generateName", /not a text/],
      [pod({ name: "a", labels: { team: value } }), "metadata.labels.team", /not a text/],
      [pod({ name: "a", annotations: { team: value } }), "metadata.annotations.team", /not a text/],
      [{ ...pod({}), kind: value }, "kind", /not a text/],
      [{ ...pod({}), apiVersion: value }, "apiVersion", /not a text/],
    ]),
    ...["{{ .Release.Name }}", '{{ include "name" . }}-web', "web-{{ $i }}"].flatMap(
      (value): [unknown, string, RegExp][] => [
        [pod({ name: "a", namespace: value }), "metadata.namespace", HELM],
        [pod({ name: value }), "metadata.name", HELM],
        [pod({ generateName: value }), "metadata.generateName", HELM],
        [pod({ name: "a", labels: { team: value } }), "metadata.labels.team", HELM],
        [{ ...pod({}), kind: value }, "kind", HELM],
        [{ ...pod({}), apiVersion: value }, "apiVersion", HELM],
      ],
    ),
    [{ ...pod({ name: "a" }), spec: containers(HELM_IMAGE) }, "spec.containers.0.image", HELM],
    [
      {
        apiVersion: "batch/v1",
        kind: "CronJob",
        spec: { jobTemplate: { spec: { template: { spec: containers(HELM_IMAGE) } } } },
      },
      "spec.jobTemplate.spec.template.spec.containers.0.image",
      HELM,
    ],
    [pod({ name: "a", labels: ["team"] }), "metadata.labels", /a list, not a map/],
    [pod({ name: "a", labels: "team" }), "metadata.labels", /a text, not a map/],
    [pod("a"), "metadata", /not a map/],
    [pod(["a"]), "metadata", /not a map/],
    ...["kind", "apiVersion"].flatMap((key) =>
      [undefined, null, ""].map((value): [unknown, string, RegExp] => [
        { ...pod({}), [key]: value },
        key,
        /is missing/,
      ]),
    ),
    ...["a/b/c", "/v1", "apps/"].map((apiVersion): [unknown, string, RegExp] => [
      { ...pod({}), apiVersion },
      "apiVersion",
      /expected VERSION or GROUP\/VERSION/,
    ]),
    ...[null, undefined, "a", 1, [pod({})]].map((value): [unknown, string, RegExp] => [
      value,
      "",
      /expected an object/,
    ]),
  ];
  for (const [index, [object, path, reason]] of refused.entries())
    test(`${index + 1}: ${JSON.stringify(object)}`, () => {
      assert.throws(
        () => identify(object),
        (error) => {
          assert.ok(error instanceof IdentityError);
          assert.equal(error.path.join("."), path);
          assert.match(error.reason, reason);
          return true;
        },
      );
    });

  test("maps that are null are absent, and values that are null are the empty text, as the API server reads them", () => {
    for (const namespace of ["shop", undefined]) {
      const written = pod({ name: "a", namespace, labels: null, annotations: { a: null, b: "x" } });
      assert.deepEqual(identify(written).object.metadata, {
        ...{ name: "a", namespace: namespace ?? "default" },
        annotations: { a: "", b: "x" },
      });
      const node = { ...written, kind: "Node" };
      assert.deepEqual(identify(node).object.metadata, { name: "a", annotations: { a: "", b: "x" } });
    }
  });
});
