/** Objects are those that Kyverno 1.19.1's command leaves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../../src/kubernetes/object.js";
import { changed, mutationsOf, oldPolicy, reasonsOf } from "../rules.js";

const rule = (patches: string | readonly JsonObject[], kinds: readonly string[] = ["ConfigMap"]) =>
  oldPolicy({ mutate: { patchesJson6902: typeof patches === "string" ? patches : JSON.stringify(patches) } }, kinds);
const configMap = (data?: JsonObject, metadata: JsonObject = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "shop", ...metadata },
  ...(data && { data }),
});
const deployment = (spec: JsonObject) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d", namespace: "shop" },
  spec: { template: { spec } },
});
const CONTAINERS = [
  { name: "a", image: "a:1" },
  { name: "b", image: "b:1", env: [{ name: "A", value: "1" }] },
];

describe("operations", () => {
  test("add makes what is missing above, once for all operations", async () => {
    const policy = rule([
      { op: "add", path: "/metadata/labels/x~1y", value: "1" },
      { op: "add", path: "/metadata/labels/z", value: "2" },
      { op: "add", path: "/data/k", value: "3" },
    ]);
    const labels = { "x/y": "1", z: "2" };
    assert.deepEqual(await changed(policy, configMap()), configMap({ k: "3" }, { labels }));
    assert.deepEqual(
      await changed(policy, configMap({ l: "0" }, { labels: { app: "web" } })),
      configMap({ l: "0", k: "3" }, { labels: { app: "web", ...labels } }),
    );
  });

  test("- and -1 are the end of a list, also of one that is made", async () => {
    const policy = rule(
      [{ op: "add", path: "/spec/template/spec/containers/-1/env/-", value: { name: "X" } }],
      ["Deployment"],
    );
    const [a, b] = CONTAINERS;
    assert.deepEqual(
      await changed(policy, deployment({ containers: CONTAINERS })),
      deployment({ containers: [a, { ...b, env: [{ name: "A", value: "1" }, { name: "X" }] }] }),
    );
    assert.deepEqual(
      await changed(policy, deployment({ containers: [a] })),
      deployment({ containers: [{ ...a, env: [{ name: "X" }] }] }),
    );
  });

  test("remove passes over what is missing; replace, move, copy and test fail", async () => {
    assert.deepEqual(
      await changed(rule([{ op: "remove", path: "/data/k" }]), configMap({ l: "1" })),
      configMap({ l: "1" }),
    );
    for (const operation of [
      { op: "replace", path: "/data/k", value: "2" },
      { op: "move", from: "/data/k", path: "/data/m" },
      { op: "copy", from: "/data/k", path: "/data/m" },
      { op: "test", path: "/data/k", value: "1" },
    ]) {
      assert.match(String(await changed(rule([operation]), configMap({}))), /missing|nonexistent/, operation.op);
      assert.equal(typeof (await changed(rule([operation]), configMap({ k: "1" }))), "object", operation.op);
    }
  });

  test("values keep their types; variables in quotes are texts", async () => {
    const value = { n: 1, b: false, nothing: null, list: ["x", 2] };
    const policy = rule([{ op: "add", path: "/data/x", value }]);
    assert.deepEqual(await changed(policy, configMap()), configMap({ x: value }));
    const yaml = `
- op: add
  path: /data/text
  value: "{{ length(request.object.metadata.name) }}"
- op: add
  path: /data/number
  value: {{ length(request.object.metadata.name) }}
- op: add
  path: /data/name
  value: "n-{{ request.object.metadata.name }}"`;
    assert.deepEqual(await changed(rule(yaml), configMap()), configMap({ text: "1", number: 1, name: "n-a" }));
  });
});

describe("foreach", () => {
  const loop = (...foreach: readonly JsonObject[]) => oldPolicy({ mutate: { foreach } }, ["Deployment"]);
  const list = "request.object.spec.template.spec.containers";
  const at = "/spec/template/spec/containers/{{elementIndex}}";

  test("each element has its operations", async () => {
    const patchesJson6902 = `[{"op": "add", "path": "${at}/env/-", "value": {"name": "IMAGE", "value": "{{element.image}}"}}]`;
    const policy = loop({ list, patchesJson6902 });
    const [a, b] = CONTAINERS;
    const added = (value: string) => ({ name: "IMAGE", value });
    assert.deepEqual(
      await changed(policy, deployment({ containers: CONTAINERS })),
      deployment({
        containers: [
          { ...a, env: [added("a:1")] },
          { ...b, env: [{ name: "A", value: "1" }, added("b:1")] },
        ],
      }),
    );
  });

  test("elements are removed from the end; those that the preconditions leave out stay", async () => {
    const preconditions = { all: [{ key: "{{ element.name }}", operator: "Equals", value: "a*" }] };
    const policy = loop({ list, order: "Descending", preconditions, patchesJson6902: `- {op: remove, path: "${at}"}` });
    const containers = [{ name: "a1" }, { name: "b" }, { name: "a2" }];
    assert.deepEqual(await changed(policy, deployment({ containers })), deployment({ containers: [{ name: "b" }] }));
    assert.match(mutationsOf(policy).join(), /\.reverse\(\)$/);
  });

  test("loops in loops know both indices, and a later loop the context of before", async () => {
    const context = [{ name: "names", variable: { jmesPath: `${list}[].name` } }];
    const removed = { list, order: "Descending", patchesJson6902: `- {op: remove, path: "${at}"}` };
    const noted = {
      list: "names",
      patchesJson6902: '- {op: add, path: "/metadata/annotations/n{{elementIndex}}", value: "{{element}}"}',
    };
    const policy = oldPolicy({ context, mutate: { foreach: [removed, noted] } }, ["Deployment"]);
    const { metadata, ...rest } = deployment({ containers: [] });
    assert.deepEqual(await changed(policy, deployment({ containers: CONTAINERS })), {
      ...rest,
      metadata: { ...metadata, annotations: { n0: "a", n1: "b" } },
    });
    const inner = {
      list: "element.env || `[]`",
      patchesJson6902:
        '- {op: replace, path: "/spec/template/spec/containers/{{elementIndex0}}/env/{{elementIndex1}}/value", value: "{{element0.name}}"}',
    };
    const [a, b] = CONTAINERS;
    assert.deepEqual(
      await changed(loop({ list, foreach: [inner] }), deployment({ containers: CONTAINERS })),
      deployment({ containers: [a, { ...b, env: [{ name: "A", value: "b" }] }] }),
    );
  });
});

test("what has no counterpart is refused at its place", () => {
  const place = "mutate.patchesJson6902";
  for (const [patches, reason] of [
    [[{ op: "add", path: "data", value: 1 }], /0\.path: a path begins with \//],
    [[{ op: "ad", path: "/data", value: 1 }], /0\.op: "ad" is not an operation/],
    [[{ op: "add", path: "/data/{{ request.object.metadata.name }}", value: 1 }], /0\.path: Kyverno refuses variables/],
    [
      [
        { op: "remove", path: "/data" },
        { op: "add", path: "/data/x", value: 1 },
      ],
      /1\.path: an operation on what another one removes/,
    ],
    [
      [
        { op: "add", path: "/data/x", value: {} },
        { op: "add", path: "/data/x/y/z", value: 1 },
      ],
      /1\.path: an operation below/,
    ],
    [
      [
        { op: "add", path: "/data/x", value: 1 },
        { op: "test", path: "/data/x", value: 1 },
      ],
      /1\.op: a test behind/,
    ],
    ["- op: [", /: this is neither YAML nor JSON/],
    ["op: add", /: operations are a list/],
  ] as const)
    assert.match(reasonsOf(rule(patches)).join(), new RegExp(`^${place}.*${reason.source}`));
  const existing = { mutate: { targets: [{ kind: "Pod" }], patchesJson6902: "[]" } };
  assert.match(reasonsOf(oldPolicy(existing)).join(), /mutate\.targets: .*write a MutatingPolicy with targets/);
  const nested = {
    foreach: [
      {
        list: "request.object.spec.containers",
        foreach: [{ list: "element.env", patchesJson6902: "- {op: remove, path: /spec/x}" }],
      },
    ],
  };
  assert.match(
    reasonsOf(oldPolicy({ mutate: nested })).join(),
    /under autogen paths of JSON patches are those of a Pod/,
  );
});
