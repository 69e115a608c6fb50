/** What expressions of mutating policies about pods become for controllers: as Kyverno 1.19.1 rewrites them, mistakes included. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { autogenOf } from "../../../../src/kinds/kyverno/autogen/autogen.js";

const PODS = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };

function variant(name: string, expression: string, more: object = {}) {
  const spec = {
    matchConstraints: { resourceRules: [PODS] },
    matchConditions: [{ name: "c", expression }],
    variables: [{ name: "v", expression }],
    mutations: [
      { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
      { patchType: "JSONPatch", jsonPatch: { expression } },
    ],
    ...more,
  };
  return autogenOf(spec, true).find((each) => each.name === name)?.spec;
}
const applied = (name: string, expression: string): string | undefined =>
  variant(name, expression)?.mutations?.[0]?.applyConfiguration?.expression;

describe("expressions of mutating policies", () => {
  test("become part of the template's literal", () => {
    assert.equal(
      applied("defaults", "Object{spec: Object.spec{a: object.spec.a}}"),
      "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{a: object.spec.template.spec.a}}}}",
    );
    assert.equal(
      applied("cronjobs", " Object {spec: Object.spec{}} "),
      "Object{spec: Object.spec{jobTemplate: Object.spec.jobTemplate{spec: Object.spec.jobTemplate.spec{template: Object.spec.jobTemplate.spec.template{spec: Object.spec.jobTemplate.spec.template.spec{}}}}}}",
    );
    assert.equal(
      applied("defaults", "Object{a: 1}.b"),
      "Object{spec: Object.spec{template: Object.spec.template{a: 1}}}.b",
    );
  });

  test("have labels and annotations of the template, and nothing else of its metadata", () => {
    assert.equal(
      applied("defaults", "c ? object.metadata.labels.a : oldObject.metadata.annotations.b + object.metadata.name"),
      "c ? object.spec.template.metadata.labels.a : oldObject.spec.template.metadata.annotations.b + object.metadata.name",
    );
    // The name of the type keeps the place of the pod: Kyverno's own mistake.
    assert.equal(
      applied("defaults", "Object{metadata: Object.metadata{labels: {}}}"),
      "Object{spec: Object.spec{template: Object.spec.template{metadata: Object.metadata{labels: {}}}}}",
    );
  });

  test("are left as they are where they are no whole literal, and words that only end like a name", () => {
    for (const [written, made] of [
      ["Object{}", "Object{}"],
      ["Object{a: {", "Object{a: {"],
      ["myobject.spec", "myobject.spec"],
      ["variables.x", "variables.x"],
      ["Objects{a: 1}", "Objects{a: 1}"],
    ] as const)
      assert.equal(applied("defaults", written), made);
  });

  test("are rewritten in conditions and apply configurations alone", () => {
    const spec = variant("defaults", "object.spec.a");
    assert.equal(spec?.matchConditions?.[0]?.expression, "object.spec.template.spec.a");
    assert.equal(spec?.variables?.[0]?.expression, "object.spec.a");
    assert.equal(spec?.mutations?.[1]?.jsonPatch?.expression, "object.spec.a");
    const custom = { autogen: { podControllers: { controllers: ["jobsets.v1.acme.example"] } } };
    assert.equal(variant("extract", "object.spec.a", custom)?.matchConditions?.[0]?.expression, "object.spec.a");
  });

  test("of policies about other things have no variants", () => {
    assert.deepEqual(
      autogenOf({ matchConstraints: { resourceRules: [{ ...PODS, resources: ["services"] }] } }, true),
      [],
    );
  });
});
