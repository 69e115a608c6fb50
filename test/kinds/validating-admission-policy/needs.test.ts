import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasExpressions } from "../../../src/kinds/shared/index.js";
import { createExpressionCompiler, prepareInline } from "../../../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { AdmissionRequest, Review } from "../../../src/policy/index.js";
import { outerWorldFor } from "../../../src/world/cluster.js";
import { NAMESPACE_LABELS, type Needs, NO_NEEDS } from "../../../src/world/needs.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { worldOf } from "../../../src/world/world.js";
import { answerOf } from "../../support/asking.js";
import { prepare, worldWith } from "./prepared.js";
import { binding, deployment, map, matching, namespaceObject, policy, ref, rule, validations } from "./tricky.js";

const CONFIG_MAP = { group: "", version: "v1", kind: "ConfigMap" };
const PARAMS: JsonObject = { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, ...validations("true") };
const check = "authorizer.group('').resource('pods').check('get').allowed()";
const selecting = (label: string): JsonObject => ({ namespaceSelector: { matchLabels: { [label]: "x" } } });
const requiring = (key: string): JsonObject => ({
  matchResources: { namespaceSelector: { matchExpressions: [{ key, operator: "Exists" }] } },
});

/** What documents ask for. */
function needs(...documents: readonly JsonObject[]): Needs {
  const prepared = prepare(documents);
  assert.deepEqual(prepared.problems, []);
  return prepared.needs;
}

/** It is asked for, and can't be done without; or can, since documents bring it. */
const requires = (...requirements: Needs["requires"]): Needs => ({ ...NO_NEEDS, asks: true, requires: requirements });
const AUTHORIZER = requires({ what: "`authorizer`" });
const NAMESPACE = requires({ what: "`namespaceObject`", documents: "Namespaces" });
const LABELS = requires({ ...NAMESPACE_LABELS, ignorable: true });
const ASKED: Needs = { ...NO_NEEDS, asks: true };

describe("what a policy will ask of the world", () => {
  test("is nothing when the request is enough", () => {
    assert.deepEqual(needs(policy(validations("object.metadata.name != ''"))), NO_NEEDS);
    assert.deepEqual(needs(policy(PARAMS), binding()), NO_NEEDS, "no binding names a parameter");
    assert.deepEqual(needs(namespaceObject("ns")), NO_NEEDS, "there is no policy");
  });

  const asking = (expression: string, name: string): readonly [string, JsonObject][] => [
    ["a validation", validations(expression)],
    ["a match condition", { matchConditions: [{ name: "c", expression }], ...validations("true") }],
    ["a variable", { variables: [{ name: "v", expression }], ...validations("true") }],
    ...(name === "authorizer"
      ? []
      : ([
          ["a message", validations({ expression: "true", messageExpression: `string(${expression})` })],
          ["an audit annotation", { auditAnnotations: [{ key: "k", valueExpression: `string(${expression})` }] }],
        ] as [string, JsonObject][])),
  ];
  for (const [where, spec] of asking(check, "authorizer")) {
    test(`the authorizer, by ${where}`, () => assert.deepEqual(needs(policy(spec)), AUTHORIZER));
  }
  for (const [where, spec] of asking("namespaceObject != null", "namespaceObject")) {
    test(`the Namespace, by ${where}`, () => {
      const cleaned = { ...spec, validations: spec.validations ?? validations("true").validations };
      assert.deepEqual(needs(policy(cleaned)), NAMESPACE);
      const beside = needs(policy(cleaned), namespaceObject("ns"));
      assert.deepEqual(beside, ASKED, "documents bring it");
    });
  }

  test("labels of Namespaces, by a policy or its bindings; those that tell their names can be done without", () => {
    const constraints = (label: string) => policy({ matchConstraints: { resourceRules: [], ...selecting(label) } });
    const rules = { resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }] };
    const own = (label: string) => policy({ matchConstraints: { ...rules, ...selecting(label) } });
    assert.equal(prepare([constraints("env")]).problems.length, 1, "without rules it is invalid");
    assert.deepEqual(needs(own("env")), LABELS);
    assert.deepEqual(needs(policy(), binding({ matchResources: selecting("env") })), LABELS);
    assert.deepEqual(needs(policy(), binding(requiring("env"))), LABELS);
    const byName = ASKED;
    assert.deepEqual(needs(own("kubernetes.io/metadata.name")), byName);
    assert.deepEqual(needs(policy(), binding(requiring("kubernetes.io/metadata.name"))), byName);
  });

  test("parameters that a binding names and no document brings", () => {
    const told = requires({
      what: "parameters (ConfigMap of v1)",
      documents: "parameters (ConfigMap of v1)",
      ignorable: true,
    });
    const namedParameters = [{ kind: CONFIG_MAP, namespace: "", name: "c" }];
    assert.deepEqual(needs(policy(PARAMS), binding(ref({ name: "c" }))), { ...told, namedParameters });
    assert.deepEqual(needs(policy(PARAMS), binding(ref({ name: "c" })), map("c")), { ...ASKED, namedParameters });
    const selected = needs(policy(PARAMS), binding(ref({ selector: {} })));
    assert.deepEqual(
      selected,
      { ...told, parameters: [CONFIG_MAP] },
      "all of them only where one is looked for among all",
    );
  });

  test("the scope of parameters whose kind is not built in, also if no binding names one", () => {
    const limits = policy({ paramKind: { apiVersion: "acme.example/v1", kind: "Limit" }, ...validations("true") });
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "limits.acme.example" },
      spec: { group: "acme.example", scope: "Cluster", names: { kind: "Limit" }, versions: [{ name: "v1" }] },
    };
    const prepared = prepare([limits, binding()]);
    assert.deepEqual(prepared.needs, ASKED);
    assert.deepEqual(needs(limits), ASKED);

    const cluster = worldWith({ resources: new FileResources([definition, namespaceObject("ns")]) });
    const world = worldOf(
      prepared.objects,
      outerWorldFor(prepared.needs, cluster, false, () => 0),
    );
    const request = deployment() as unknown as AdmissionRequest;
    const review: Review = { kind: "admission", request, requestBytes: () => new Uint8Array() };
    const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
    assert.deepEqual(answerOf(prepared.policy("p", world), review, context), { verdict: "allow" });
  });

  test("not the versions of resources: only requests in another version than the rules name ask for those", () => {
    assert.deepEqual(needs(policy(matching(rule("acme.example", "v1", "limits")))), NO_NEEDS);
  });

  test("all of several policies together, and nothing of broken ones", () => {
    const broken = prepare([policy(validations("nope")), policy(validations(check), "q"), policy(PARAMS, "r")]);
    assert.deepEqual(broken.needs, AUTHORIZER);
  });

  test("of an inline policy likewise", () => {
    const prepared = prepareInline(validations(`${check} && namespaceObject != null`), {
      compiler: createExpressionCompiler(),
    });
    assert.ok(!("errors" in prepared));
    assert.deepEqual(prepared.needs, requires(...NAMESPACE.requires, ...AUTHORIZER.requires));
    const ready = prepared.policy("p", worldWith());
    assert.ok(hasExpressions(ready));
    assert.deepEqual(
      [...ready.expressions()].map(({ path, wanted }) => [path, wanted]),
      [["spec.validations[0].expression", "both"]],
    );
  });
});
