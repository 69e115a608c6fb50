/** What policies about pods become for the controllers that make pods; the released program's own answers are in autogen.jsonl. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { autogenOf, autogenStatus } from "../../../../src/kinds/kyverno/autogen/autogen.js";
import { unknownControllers } from "../../../../src/kinds/kyverno/autogen/controllers.js";
import type { PolicySpec } from "../../../../src/kinds/kyverno/resource.js";

const PODS = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const about = (rule: object, match: object = {}): PolicySpec => ({
  matchConstraints: { resourceRules: [{ ...PODS, ...rule }], ...match },
  validations: [{ expression: "object.spec.hostNetwork != true" }],
});
const forControllers = (...controllers: string[]): PolicySpec => ({
  ...about({}),
  autogen: { podControllers: { controllers } },
});
const names = (spec: PolicySpec): readonly string[] => autogenOf(spec).map(({ name }) => name);

/** What an expression becomes in a variant. */
function rewritten(expression: string, variant = "defaults"): string | undefined {
  const spec = { ...about({}), validations: [{ expression }] };
  return autogenOf(spec).find(({ name }) => name === variant)?.spec.validations?.[0]?.expression;
}

describe("variants", () => {
  test("are those of the released program, status form included", () => {
    const file = new URL("../../../../../test/vectors/kyverno/autogen.jsonl", import.meta.url);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    for (const line of lines) {
      const { id, spec, autogen } = JSON.parse(line);
      assert.deepEqual(autogenStatus(autogenOf(spec)), autogen, id);
    }
    assert.ok(lines.length > 40);
  });

  test("are made of policies about pods and nothing else", () => {
    assert.deepEqual(names(about({})), ["cronjobs", "defaults"]);
    assert.deepEqual(names(about({ scope: "Namespaced", operations: ["*"] }, { matchPolicy: "Exact" })).length, 2);
    assert.deepEqual(names(about({ resourceNames: [] }, { objectSelector: {}, namespaceSelector: {} })).length, 2);
    const ineligible: readonly PolicySpec[] = [
      {},
      about({ resources: ["pods", "services"] }),
      about({ resources: ["pods/status"] }),
      about({ resources: ["*"] }),
      about({ apiGroups: ["*"] }),
      about({ apiVersions: ["*"] }),
      about({ resourceNames: ["a"] }),
      about({}, { excludeResourceRules: [PODS] }),
      about({}, { objectSelector: { matchLabels: { a: "b" } } }),
      about({}, { objectSelector: { matchExpressions: [{ key: "a", operator: "Exists" }] } }),
      about({}, { resourceRules: [PODS, PODS] }),
      about({}, { resourceRules: [] }),
    ];
    for (const spec of ineligible) assert.deepEqual(names(spec), [], JSON.stringify(spec));
  });

  test("are for the controllers that are named; other names mean nothing", () => {
    assert.deepEqual(names(forControllers()), []);
    assert.deepEqual(names(forControllers("Deployment", "replicationcontrollers")), []);
    assert.deepEqual(names(forControllers("cronjobs")), ["cronjobs"]);
    assert.deepEqual(names(forControllers("jobsets.v1alpha2.jobset.x-k8s.io", "jobs", "cronjobs")), [
      "cronjobs",
      "defaults",
      "extract",
    ]);
    assert.deepEqual(unknownControllers(["jobs", "Job", "a.v1.g", "a.v1.", "a.v1"]), ["Job", "a.v1.", "a.v1"]);
  });

  test("of custom controllers keep the policy's texts", () => {
    const [variant] = autogenOf(forControllers("jobsets.v1alpha2.jobset.x-k8s.io"));
    assert.deepEqual(variant?.targets, [
      { group: "jobset.x-k8s.io", version: "v1alpha2", resource: "jobsets", kind: "Jobset" },
    ]);
    assert.equal(variant?.spec.validations?.[0]?.expression, "object.spec.hostNetwork != true");
    assert.deepEqual(variant?.spec.matchConstraints?.resourceRules, [
      { operations: ["CREATE"], apiGroups: ["jobset.x-k8s.io"], apiVersions: ["v1alpha2"], resources: ["jobsets"] },
    ]);
  });

  test("without operations have no constraints, and so never match", () => {
    for (const { spec } of autogenOf(about({ operations: [] }))) assert.equal(spec.matchConstraints, undefined);
  });

  test("keep the namespace selector and drop what else constrains", () => {
    const [, variant] = autogenOf(
      about({ scope: "Namespaced" }, { namespaceSelector: { matchLabels: { env: "prod" } }, matchPolicy: "Exact" }),
    );
    const { resourceRules, ...rest } = variant?.spec.matchConstraints ?? {};
    assert.deepEqual(rest, { namespaceSelector: { matchLabels: { env: "prod" } } });
    assert.deepEqual(
      resourceRules?.map(({ apiGroups, resources, scope }) => [apiGroups, resources, scope]),
      [
        [["apps"], ["daemonsets", "deployments", "replicasets", "statefulsets"], undefined],
        [["batch"], ["jobs"], undefined],
      ],
    );
  });

  test("have the old key of a label beside the new one", () => {
    const [variant] = autogenOf(about({}, { namespaceSelector: { matchLabels: { "object.spec": "a" } } }));
    assert.deepEqual(variant?.spec.matchConstraints?.namespaceSelector?.matchLabels, {
      "object.spec": "a",
      "object.spec.jobTemplate.spec.template.spec": "a",
    });
  });
});

describe("paths", () => {
  const cases: readonly (readonly [what: string, from: string, to: string])[] = [
    ["a pod's spec", "object.spec.x", "object.spec.template.spec.x"],
    ["the old pod's spec", "oldObject.spec.x", "oldObject.spec.template.spec.x"],
    ["a pod's metadata", "object.metadata.name", "object.spec.template.metadata.name"],
    ["the old pod's metadata", "oldObject.metadata.name", "oldObject.spec.template.metadata.name"],
    ["optional members of it", "object.metadata.?labels", "object.spec.template.metadata.?labels"],
    ["the object in the request", "request.object.spec", "request.object.spec.template.spec"],
    ["members that begin so", "object.specialField", "object.spec.template.specialField"],
    ["an optional namespace", "object.metadata.?namespace", "object.spec.template.metadata.?namespace"],
    ["what begins like a namespace", "object.metadata.namespaceFoo", "object.spec.template.metadata.namespaceFoo"],
    ["what was made over by hand", "object.spec.template.spec", "object.spec.template.spec.template.spec"],
    ["not a namespace", "object.metadata.namespace == 'x'", "object.metadata.namespace == 'x'"],
    ["not a namespace in the spec", "object.spec.namespace", "object.spec.namespace"],
    ["not a namespace before a letter of another script", "object.spec.namespaceé", "object.spec.namespaceé"],
    ["not an optional spec", "object.?spec", "object.?spec"],
    ["not an index", 'object["spec"]', 'object["spec"]'],
    ["not an optional index", "object[?'metadata']", "object[?'metadata']"],
    ["not what an expression gives", "(c ? object : oldObject).spec", "(c ? object : oldObject).spec"],
    ["not the namespace object's", "namespaceObject.metadata", "namespaceObject.metadata"],
    ["not a variable's use", "variables.podSpec", "variables.podSpec"],
    ["not the kind", "object.kind == object.apiVersion", "object.kind == object.apiVersion"],
  ];
  for (const [what, from, to] of cases) test(what, () => assert.equal(rewritten(from), to));

  test("of a pod in a CronJob are longer", () => {
    assert.equal(rewritten("object.spec.x", "cronjobs"), "object.spec.jobTemplate.spec.template.spec.x");
    assert.equal(rewritten("oldObject.metadata.x", "cronjobs"), "oldObject.spec.jobTemplate.spec.template.metadata.x");
  });

  test("are replaced in messages, conditions and variables, too", () => {
    const [, variant] = autogenOf({
      ...about({}),
      validations: [{ expression: "true", message: "bad object.spec.x", messageExpression: '"object.metadata"' }],
      matchConditions: [{ name: "c", expression: "object.spec.a" }],
      variables: [{ name: "podSpec", expression: "object.spec" }],
      auditAnnotations: [{ key: "k", valueExpression: "object.spec.b" }],
    });
    const { validations, matchConditions, variables, auditAnnotations } = variant?.spec ?? {};
    assert.equal(validations?.[0]?.message, "bad object.spec.template.spec.x");
    assert.equal(validations?.[0]?.messageExpression, '"object.spec.template.metadata"');
    assert.equal(matchConditions?.[0]?.expression, "object.spec.template.spec.a");
    assert.equal(variables?.[0]?.expression, "object.spec.template.spec");
    assert.equal(auditAnnotations?.[0]?.valueExpression, "object.spec.template.spec.b");
  });
});
