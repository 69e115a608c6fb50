import assert from "node:assert/strict";
import { test } from "node:test";
import { judged } from "./judged.js";

const pod = (spec: unknown, metadata: unknown = {}) => ({ kind: "Pod", metadata, spec }) as never;

test("a message ends with a dot once, and an empty one is left out", () => {
  const ask = (message: string) => judged({ spec: { hostPID: true } }, "pods", [pod({})], message)[0];
  assert.equal(ask("not so"), "validation error: not so. rule check failed at path /spec/hostPID/");
  assert.equal(ask("not so."), "validation error: not so. rule check failed at path /spec/hostPID/");
  assert.equal(ask(""), "validation error: rule check failed at path /spec/hostPID/");
  const named = judged(
    { spec: { hostPID: true } },
    "pods",
    [pod({}, { name: "a" })],
    "{{ request.object.metadata.name }} no",
  );
  assert.deepEqual(named, ["validation error: a no. rule check failed at path /spec/hostPID/"]);
});

test("the path names the item, also of a list in a list, and the parent that is missing", () => {
  const pattern = {
    spec: { containers: [{ resources: { limits: { cpu: "?*" } }, "=(env)": [{ "X(valueFrom)": "null" }] }] },
  };
  const limits = { limits: { cpu: "1" } };
  const paths = judged(pattern, "pods", [
    pod({ containers: [{ resources: limits }, {}] }),
    pod({ containers: [{ resources: {} }] }),
    pod({ containers: [{ resources: { limits: {} } }] }),
    pod({ containers: [{ resources: limits }, { resources: limits, env: [{}, { valueFrom: {} }] }] }),
    pod({}),
  ]).map((text) => text.replace(/^.*at path /, ""));
  assert.deepEqual(paths, [
    "/spec/containers/1/resources/",
    "/spec/containers/0/resources/limits/",
    "/spec/containers/0/resources/limits/cpu/",
    "/spec/containers/1/env/1/valueFrom/",
    "/spec/containers/",
  ]);
});

test("anyPattern tells of those that fail, and passes where all are skipped", () => {
  const labels = (name: string) => ({ metadata: { labels: { [name]: "x" } } });
  assert.deepEqual(
    judged([labels("a"), labels("b")], "pods", [
      pod({}),
      pod({}, { labels: { a: "y" } }),
      pod({}, { labels: { b: "x" } }),
    ]),
    [
      "validation error: No. rule check[0] failed at path /metadata/labels/ rule check[1] failed at path /metadata/labels/",
      "validation error: No. rule check[0] failed at path /metadata/labels/a/ rule check[1] failed at path /metadata/labels/b/",
      "pass",
    ],
  );
  const skippable = [
    { spec: { "(hostPID)": true, hostIPC: true } },
    { spec: { "(hostNetwork)": true, hostIPC: true } },
  ];
  assert.deepEqual(judged(skippable, "pods", [pod({}), pod({ hostPID: true }), pod({ hostNetwork: true })]), [
    "pass",
    "validation error: No. rule check[0] failed",
    "validation error: No. rule check[1] failed",
  ]);
});

test("values of variables are compared as they are", () => {
  const spec = (pattern: unknown, found: object) =>
    judged({ spec: { v: pattern } }, "widgets", [{ spec: found } as never])[0] === "pass";
  assert.ok(spec("{{ request.object.spec.w }}", { v: "a", w: "a" }));
  assert.ok(spec("{{ request.object.spec.w }}", { v: "1024Mi", w: "1Gi" }));
  assert.ok(!spec("{{ request.object.spec.w }}", { v: "a", w: "a*" }));
  assert.ok(!spec("{{ request.object.spec.w }}", { v: "a" }));
  assert.ok(spec("<={{ request.object.spec.max }}", { v: 3, max: 5 }));
  assert.ok(spec("<={{ request.object.spec.max }}", { max: 5 }));
  assert.ok(!spec("<={{ request.object.spec.max }}", { v: 7, max: 5 }));
  assert.ok(spec("{{ request.object.spec.w }}-*", { v: "a-b", w: "a" }));
  assert.ok(!spec("{{ request.object.spec.w }}-*", { v: "b-b", w: "a" }));
  assert.ok(!spec("!{{ request.object.spec.w }}", { v: "ab", w: "a*" }));
  assert.ok(spec("!{{ request.object.spec.w }}", { v: "ab", w: "a" }));
  assert.throws(
    () => spec("{{ request.object.spec.a }}-{{ request.object.spec.b }}", {}),
    /may be a pattern of its own/,
  );
});
