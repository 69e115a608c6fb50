import assert from "node:assert/strict";
import { test } from "node:test";
import { primary } from "../../../../../src/kinds/kyverno/convert/cel-text.js";
import { query } from "../../../../../src/kinds/kyverno/convert/jmespath/query.js";
import { refusal, resultOf, written } from "../converted.js";

const DIGEST = `sha256:${"0".repeat(64)}`;
const image = (name: string, text: string): unknown => ({ name, image: text });
const POD = {
  kind: "Pod",
  spec: {
    containers: [
      image("main", "nginx"),
      image("side", "docker.io/library/nginx:1"),
      image("own", "reg2:5000/team/x:2"),
      image("fixed", `registry.example.com/a/b/c@${DIGEST}`),
    ],
  },
};

test("images are read from the Pod as Kyverno reads them", () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ["images.containers.*.registry", ["docker.io", "docker.io", "reg2:5000", "registry.example.com"]],
    ["images.containers.*.path", ["nginx", "library/nginx", "team/x", "a/b/c"]],
    ["images.containers.*.name", ["nginx", "nginx", "x", "c"]],
    ["images.containers.*.tag", ["latest", "1", "2"]],
    ["images.containers.*.digest", [DIGEST]],
    [
      "images.containers.*.reference",
      [
        "docker.io/nginx:latest",
        "docker.io/library/nginx:1",
        "reg2:5000/team/x:2",
        `registry.example.com/a/b/c@${DIGEST}`,
      ],
    ],
    ["images.initContainers.*.tag || `[]`", []],
    ["images.initContainers.*.tag", null],
    ["images.containers.side.tag", "1"],
    ["images.containers.fixed.tag", "error"],
    ["images.containers.fixed.tag || 'none'", "none"],
    ["images.containers.none.tag", "error"],
    ["images.[containers, initContainers][].*.name[] | [0]", "nginx"],
  ];
  const pod = { object: primary("object"), oldObject: primary("oldObject") };
  const roots = { ...pod, pod };
  for (const [source, wanted] of cases)
    assert.deepEqual(
      resultOf((scope) => query(source, scope), POD, { roots }),
      wanted,
      source,
    );
});

test("images of controllers are those of their templates", () => {
  const source = (scope: Parameters<typeof query>[1]): ReturnType<typeof query> =>
    query("images.containers.*.registry", scope);
  assert.deepEqual(written(source), [
    'variables.podSpec.containers.map(e, image(e.image).registry().replace("index.docker.io", "docker.io"))',
    'podSpec = object.kind == "Pod" ? object.spec : object.kind == "CronJob" ? object.spec.jobTemplate.spec.template.spec : object.spec.template.spec',
  ]);
  const spec = POD.spec;
  const wanted = ["docker.io", "docker.io", "reg2:5000", "registry.example.com"];
  assert.deepEqual(resultOf(source, POD), wanted);
  assert.deepEqual(resultOf(source, { kind: "Deployment", spec: { template: { spec } } }), wanted);
  assert.deepEqual(
    resultOf(source, { kind: "CronJob", spec: { jobTemplate: { spec: { template: { spec } } } } }),
    wanted,
  );
  assert.equal(resultOf(source, { kind: "Widget", spec: {} }), "error");
});

test("images as a whole, and what else Kyverno knows of them, are told", () => {
  for (const source of [
    "images",
    "images.containers",
    "images.containers.*",
    "images.containers.main",
    "images.containers || 'x'",
  ])
    assert.match(
      refusal((scope) => query(source, scope)),
      /images as a whole are not converted/,
      source,
    );
  assert.match(
    refusal((scope) => query("images.custom.*.tag", scope)),
    /images.custom is not converted/,
  );
  assert.match(
    refusal((scope) => query("images.containers.a.jsonPointer", scope)),
    /jsonPointer of an image is not converted/,
  );
});
