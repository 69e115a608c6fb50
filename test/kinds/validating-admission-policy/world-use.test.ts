import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createExpressionCompiler, prepareInline } from "../../../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { isAny, type Needs, NO_NEEDS, unionOf } from "../../../src/world/needs.js";
import { prepare } from "./prepared.js";
import { binding, map, matching, namespaceObject, policy, ref, rule, validations } from "./tricky.js";

const CONFIG_MAP = { group: "", version: "v1", kind: "ConfigMap" };
const PARAMS: JsonObject = { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, ...validations("true") };
const check = "authorizer.group('').resource('pods').check('get').allowed()";
const selecting = (label: string): JsonObject => ({ namespaceSelector: { matchLabels: { [label]: "x" } } });
const requiring = (key: string): JsonObject => ({
  matchResources: { namespaceSelector: { matchExpressions: [{ key, operator: "Exists" }] } },
});

/** What documents ask for, and what of it they can't do without; members that are not asked for are left out. */
function used(...documents: readonly JsonObject[]): { readonly asks: Partial<Needs>; readonly needs: Partial<Needs> } {
  const { asks, needs, problems } = prepare(documents);
  assert.deepEqual(problems, []);
  const said = (all: Needs): Partial<Needs> =>
    Object.fromEntries(Object.entries(all).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value)));
  return { asks: said(asks), needs: said(needs) };
}

const both = (needs: Partial<Needs>) => ({ asks: needs, needs });
const NOTHING = both({});

describe("what a policy will ask of the world", () => {
  test("is nothing when the request is enough", () => {
    assert.deepEqual(used(policy(validations("object.metadata.name != ''"))), NOTHING);
    assert.deepEqual(used(policy(PARAMS), binding()), NOTHING, "no binding names a parameter");
    assert.deepEqual(used(namespaceObject("ns")), NOTHING, "there is no policy");
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
    test(`the authorizer, by ${where}`, () => assert.deepEqual(used(policy(spec)), both({ authorizer: true })));
  }
  for (const [where, spec] of asking("namespaceObject != null", "namespaceObject")) {
    test(`the Namespace, by ${where}`, () => {
      const cleaned = { ...spec, validations: spec.validations ?? validations("true").validations };
      assert.deepEqual(used(policy(cleaned)), both({ namespaces: true }));
      const beside = used(policy(cleaned), namespaceObject("ns"));
      assert.deepEqual(beside, { asks: { namespaces: true }, needs: {} }, "documents bring it");
    });
  }

  test("labels of Namespaces, by a policy or its bindings; those that tell their names can be done without", () => {
    const constraints = (label: string) => policy({ matchConstraints: { resourceRules: [], ...selecting(label) } });
    const rules = { resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }] };
    const own = (label: string) => policy({ matchConstraints: { ...rules, ...selecting(label) } });
    assert.equal(prepare([constraints("env")]).names.length, 0, "without rules it is invalid");
    assert.deepEqual(used(own("env")), both({ namespaces: true }));
    assert.deepEqual(used(policy(), binding({ matchResources: selecting("env") })), both({ namespaces: true }));
    assert.deepEqual(used(policy(), binding(requiring("env"))), both({ namespaces: true }));
    const byName = { asks: { namespaces: true }, needs: {} };
    assert.deepEqual(used(own("kubernetes.io/metadata.name")), byName);
    assert.deepEqual(used(policy(), binding(requiring("kubernetes.io/metadata.name"))), byName);
  });

  test("parameters that a binding names and no document brings", () => {
    const params = { params: [CONFIG_MAP] };
    assert.deepEqual(used(policy(PARAMS), binding(ref({ name: "c" }))), both(params));
    assert.deepEqual(used(policy(PARAMS), binding(ref({ name: "c" })), map("c")), { asks: params, needs: {} });
    const list = { apiVersion: "v1", kind: "List", items: [map("c")] };
    assert.deepEqual(used(policy(PARAMS), binding(ref({ name: "c" })), list), { asks: params, needs: {} });
  });

  test("versions of resources that nobody here knows, as long as others than the named ones count", () => {
    const versions = { asks: { equivalents: true }, needs: {} };
    const custom = rule("acme.example", "v1", "limits");
    assert.deepEqual(used(policy(matching(custom))), versions);
    const exact = { matchConstraints: { resourceRules: [custom], matchPolicy: "Exact" } };
    assert.deepEqual(used(policy(exact)), NOTHING);
    assert.deepEqual(used(policy(matching(rule("acme.example", "*", "limits")))), NOTHING);
    assert.deepEqual(used(policy(matching(rule("apps", "v1", "deployments")))), NOTHING);
    const excluding = {
      matchConstraints: { resourceRules: [rule("apps", "v1", "*")], excludeResourceRules: [custom] },
    };
    assert.deepEqual(used(policy(excluding)), versions);
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "limits.acme.example" },
      spec: { group: "acme.example", names: { kind: "Limit", plural: "limits" }, versions: [] },
    };
    assert.deepEqual(used(policy(matching(custom)), definition), NOTHING);
  });

  test("all of several policies together, and nothing of broken ones", () => {
    const broken = prepare([policy(validations("nope")), policy(validations(check), "q"), policy(PARAMS, "r")]);
    assert.deepEqual(broken.names, ["q", "r"]);
    assert.deepEqual(broken.asks, { ...NO_NEEDS, authorizer: true });
    const twice = unionOf([
      { ...NO_NEEDS, params: [CONFIG_MAP] },
      { ...NO_NEEDS, params: [{ ...CONFIG_MAP }] },
    ]);
    assert.deepEqual(twice.params, [CONFIG_MAP]);
    assert.deepEqual([isAny(NO_NEEDS), isAny(twice), isAny({ ...NO_NEEDS, equivalents: true })], [false, true, true]);
  });

  test("of an inline policy likewise", () => {
    const prepared = prepareInline(validations(`${check} && namespaceObject != null`), {
      compiler: createExpressionCompiler(),
    });
    assert.ok(!("errors" in prepared));
    const expected = { ...NO_NEEDS, authorizer: true, namespaces: true };
    assert.deepEqual([prepared.asks, prepared.needs], [expected, expected]);
    assert.deepEqual(
      [...prepared.expressions()].map(({ path, wanted }) => [path, wanted]),
      [["spec.validations[0].expression", "both"]],
    );
  });
});
