/** `check --upgrade`: whose decisions a newer Kubernetes changes, shown by a request. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { SourceDocument } from "../../src/config/documents/source-document.js";
import { parseResources } from "../../src/config/documents/source-document.js";
import type { Problem } from "../../src/config/index.js";
import { stringifyJson } from "../../src/data/json.js";
import { upgradedKind } from "../../src/kinds/admission-policy/upgrade.js";
import { createMutationCompilers } from "../../src/kinds/mutating-admission-policy/compilers.js";
import { mutatingAdmissionPolicyKind } from "../../src/kinds/mutating-admission-policy/kind.js";
import { createExpressionCompiler } from "../../src/kinds/validating-admission-policy/index.js";
import { validatingAdmissionPolicyKind } from "../../src/kinds/validating-admission-policy/kind.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { bundledSchemas } from "../../src/kubernetes/structured-merge/merge-schemas.js";
import { decideCase as decideMutating } from "../../src/offline/cases/mutating-admission-policy/case.js";
import { decideCase } from "../../src/offline/cases/validating-admission-policy/case.js";

const validating = (["1.37", "1.38"] as const).map((version) =>
  validatingAdmissionPolicyKind(createExpressionCompiler(version), undefined),
);
const mutating = (["1.37", "1.38"] as const).map((version) =>
  mutatingAdmissionPolicyKind(createMutationCompilers(version)),
);
const [kind, mutatingKind] = [validating, mutating].map(([before, after]) => upgradedKind(before!, after!, "1.38"));

/** What is said of policies. */
function saidOf(documents: readonly object[], by = kind): readonly Problem[] {
  const { documents: own } = parseResources(
    documents.map((each) => `---\n${JSON.stringify(each)}\n`).join(""),
    "p.yaml",
  );
  const said: Problem[] = [];
  by?.prepare({ id: "p", own: own as readonly SourceDocument[], others: [] }, (problem) => said.push(problem));
  return said.filter(({ code }) => code === "KUBERNETES_UPGRADE");
}

const RULE = {
  apiGroups: ["example.com"],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE"],
  resources: ["widgets"],
};
const policy = (spec: object, rule: object = RULE, apiKind = "ValidatingAdmissionPolicy") => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: apiKind,
  metadata: { name: "p.example.com" },
  spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
});
const validation = (expression: string, more: object = {}, rule?: object) =>
  saidOf([policy({ validations: [{ expression }], ...more }, rule)])[0];

describe("a policy whose decisions change", () => {
  for (const expression of [
    "!(double(object.metadata.labels['share']) < 5.0)",
    "double(object.spec.share.replace('%', '')) / 100.0 >= 0.5 || true == false || !(double(object.spec.share) > 3.0)",
    "object.spec.parts.all(part, part.size > 3)",
    "!object.spec.parts.exists(part, part == 'x')",
    "object.spec.parts.map(part, part.name).size() == 0",
    "quantity(object.spec.size).isInteger() && quantity(object.spec.size).isGreaterThan(quantity('1k'))",
    "object.spec.items.all(item, !(double(item.weight) > 2.5))",
    "!(double(object.spec.used) / double(object.spec.total) > 0.9)",
    "request.userInfo.username == 'alice' && !(double(object.spec.x) > 1.0)",
    "object.spec.mode == 'strict' && object.spec.level >= 3 && !(double(object.spec.x) > 1.0)",
    "authorizer.group('').resource('pods').check('get').allowed() || !(double(object.spec.x) > 1.0)",
    "!(double(namespaceObject.metadata.labels['limit']) < double(object.spec.x))",
    "!(double(object.spec.x.split(':')[1]) > 5.0)",
    "object.spec.x.split('-').all(part, !(double(part) > 5.0))",
    "object.spec.x.endsWith('m') ? !(double(object.spec.x.substring(0, object.spec.x.size() - 1)) > 100.0) : true",
    "[1, 2, 3].all(i, authorizer.path(object.spec.x).check('get').allowed() || true)",
    "[object.spec.a, object.spec.b].sortBy(v, 1 / int(v)).size() == 1 || object.spec.a == 'x'",
  ])
    test(expression, () => {
      const said = validation(expression);
      assert.equal(said?.severity, "warning", said?.message);
      assert.deepEqual(said?.path, ["spec", "validations", 0, "expression"]);
      const { witness } = said ?? {};
      assert.match(said?.message ?? "", /\nbefore: .*\nthen: /);
      const [before, after] = decisionsAbout([policy({ validations: [{ expression }] })], witness as JsonObject);
      assert.notEqual(before, after);
    });

  test("is found behind other validations, match conditions and variables", () => {
    const said = validation("variables.team == 'x'", {
      variables: [
        { name: "team", expression: "object.metadata.?labels['team'].orValue('')" },
        { name: "share", expression: "double(object.spec.share)" },
      ],
      matchConditions: [{ name: "m", expression: "object.metadata.name.startsWith('web-')" }],
      validations: [
        { expression: "variables.team == 'x'" },
        { expression: "has(object.spec.level) && object.spec.level in ['low', 'high']" },
        { expression: "!(variables.share > 5.0)" },
      ],
    });
    assert.equal(said?.severity, "warning", said?.message);
    assert.deepEqual(said?.path, ["spec", "validations", 2, "expression"]);
  });

  test("is found where failures are ignored, and in parameters", () => {
    assert.equal(validation("double(object.spec.x) < 5.0", { failurePolicy: "Ignore" })?.severity, "warning");
    const bound = [
      policy({
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        validations: [{ expression: "!(double(params.data.most) < object.spec.count)" }],
      }),
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicyBinding",
        metadata: { name: "b" },
        spec: {
          policyName: "p.example.com",
          validationActions: ["Deny"],
          paramRef: { name: "limits", namespace: "system", parameterNotFoundAction: "Deny" },
        },
      },
    ];
    assert.match(saidOf(bound)[0]?.message ?? "", /"params":\{.*"most":"NaN"/);
  });

  const wanted = (key: string) => ({ matchExpressions: [{ key, operator: "In", values: ["x"] }] });
  const labelled = "!(double(object.metadata.labels['x']) > 5.0)";
  for (const [name, match, matchResources, expression = labelled] of [
    ["a status", { resourceRules: [{ ...RULE, operations: ["UPDATE"], resources: ["widgets/status"] }] }],
    ["a scale", { resourceRules: [{ ...RULE, resources: ["widgets/scale"] }] }],
    ["an eviction", { resourceRules: [{ ...RULE, apiGroups: [""], resources: ["pods/eviction"] }] }],
    [
      "a command in a container",
      { resourceRules: [{ ...RULE, apiGroups: [""], operations: ["CONNECT"], resources: ["pods/exec"] }] },
      undefined,
      "!(double(object.container) > 5.0)",
    ],
    ["an object of the cluster", { resourceRules: [{ ...RULE, scope: "Cluster" }] }],
    ["a name", { resourceRules: [{ ...RULE, resourceNames: ["special"] }] }],
    ["a label", { resourceRules: [RULE], objectSelector: wanted("tier") }],
    ["a namespace", { resourceRules: [RULE], namespaceSelector: wanted("kubernetes.io/metadata.name") }],
    ["the namespaces of a binding", { resourceRules: [RULE] }, { namespaceSelector: wanted("stage") }],
    ["the labels of a binding", { resourceRules: [RULE] }, { objectSelector: wanted("tier") }],
    [
      "the resources of a binding",
      { resourceRules: [{ ...RULE, apiGroups: ["*"], resources: ["*"] }] },
      { resourceRules: [{ ...RULE, resources: ["gadgets"] }] },
    ],
  ] as const)
    test(`is found where it is about ${name}`, () => {
      const binding = { policyName: "p.example.com", validationActions: ["Deny"], matchResources };
      const documents = [
        policy({ matchConstraints: match, validations: [{ expression }] }),
        { kind: "ValidatingAdmissionPolicyBinding", metadata: { name: "b" }, spec: binding },
      ].map((each) => ({ ...each, apiVersion: "admissionregistration.k8s.io/v1" }));
      const [said] = saidOf(matchResources === undefined ? documents.slice(0, 1) : documents);
      assert.equal(said?.severity, "warning", said?.message);
    });

  test("is found where the limit of what all expressions cost together is reached", () => {
    const validations = Array.from({ length: 30 }, (_, i) => ({
      expression: `authorizer.path(object.spec.path${i}).check('get').allowed() || true`,
    }));
    assert.doesNotMatch(saidOf([policy({ validations })])[0]?.message ?? "", /everything as before$/);
  });

  test("is found among MutatingAdmissionPolicies", () => {
    const mutation = {
      patchType: "JSONPatch",
      jsonPatch: {
        expression: "[JSONPatch{op: 'add', path: '/data/low', value: double(object.data.x) < 5.0 ? 'yes' : 'no'}]",
      },
    };
    const spec = { failurePolicy: "Fail", reinvocationPolicy: "Never", mutations: [mutation] };
    const rule = { ...RULE, apiGroups: [""], resources: ["configmaps"] };
    const [said] = saidOf([policy(spec, rule, "MutatingAdmissionPolicy")], mutatingKind);
    assert.equal(said?.severity, "warning", said?.message);
    assert.match(said?.message ?? "", /then: allowed with other changes/);
  });

  test("has the same witness each time, without anything that makes no difference", () => {
    const [first, second] = [0, 1].map(() => validation("!(double(object.spec.x) > 1.0) && object.spec.level != 'z'"));
    assert.deepEqual(first, second);
    const asked = JSON.parse(/asked about: (.*)$/.exec(first?.message ?? "")?.[1] ?? "{}");
    assert.deepEqual(Object.keys(asked.request.object.spec as JsonObject).sort(), ["level", "x"]);
  });
});

describe("a policy whose decisions stay", () => {
  const pods = { ...RULE, apiGroups: [""], resources: ["pods"] };
  for (const [expression, rule, message] of [
    ["object.spec.replicas > 5", RULE, /decides everything as before$/],
    ["object.metadata.name.size() < 20 && double(5) == 5.0", RULE, /decides everything as before$/],
    // A Pod has no such member, and its containers are a list.
    ["object.spec.items.all(item, item.count <= 3)", pods, /no request was found/],
    [
      "object.spec.containers.all(c, c.image.startsWith('x/'))",
      pods,
      /no request was found .* in \d{3,} that were tried/,
    ],
    ["double(object.metadata.name.size()) < 20.0", RULE, /no request was found/],
  ] as const)
    test(expression, () => {
      const said = validation(expression, {}, rule);
      assert.equal(said?.severity, "note", said?.message);
      assert.match(said?.message ?? "", message);
    });

  test("is each of several, by itself", () => {
    const other = {
      ...policy({ validations: [{ expression: "true == has(object.spec)" }] }),
      metadata: { name: "q.example.com" },
    };
    const said = saidOf([policy({ validations: [{ expression: "double(object.spec.x) > 1.0 || true" }] }), other]);
    assert.deepEqual(
      said.map(({ severity }) => severity),
      ["note", "note"],
    );
  });

  test("is one that only tells another message", () => {
    const said = validation("false", {
      validations: [
        { expression: "has(object.nothing)", messageExpression: "double(object.spec.x) < 5.0 ? 'a' : 'b'" },
      ],
    });
    assert.equal(said?.severity, "note", said?.message);
  });
});

const compilers = (["1.37", "1.38"] as const).map((version) => createExpressionCompiler(version));
const tools = (["1.37", "1.38"] as const).map((version) => ({
  compilers: createMutationCompilers(version),
  schemas: bundledSchemas(),
}));

/** What both releases decide by the code that is held against the API server's plugin. */
function decisionsAbout(policies: readonly object[], { request, namespaceObject, authorizer = "allow" }: JsonObject) {
  const namespace = { metadata: {}, ...(namespaceObject as object), apiVersion: "v1", kind: "Namespace" };
  const written = {
    policies,
    bindings: [
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicyBinding",
        metadata: { name: "b" },
        spec: { policyName: "p.example.com", validationActions: ["Deny"] },
      },
    ],
    namespaces: [{ ...namespace, metadata: { ...namespace.metadata, name: (request as JsonObject).namespace } }],
    restMappings: [{ group: "example.com", version: "v1", kind: "Widget", resource: "widgets", namespaced: true }],
    authorizer: { default: { decision: authorizer } },
    request: { oldObject: null, dryRun: false, options: null, ...(request as object) },
  };
  return compilers.map((compiler) => (decideCase(written, compiler) as { allowed: boolean }).allowed);
}

describe("answers of the API server's plugins", () => {
  const cases = (name: string) =>
    readFileSync(new URL(`../../../test/vectors/kubernetes-1.38/${name}.jsonl`, import.meta.url), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject & { id: string; policies: JsonObject[]; bindings: JsonObject[] })
      // What 1.37 does not compile is an error.
      .filter(({ id, changed }) => changed === true && !id.includes("is-mask"));
  const deciding: Readonly<Record<string, (written: JsonObject) => readonly unknown[]>> = {
    vap: (written) => compilers.map((compiler) => (decideCase(written, compiler) as { allowed: boolean }).allowed),
    map: (written) =>
      tools.map((each) => {
        const { allowed, object } = decideMutating(written, each) as { allowed: boolean; object?: unknown };
        return stringifyJson([allowed, object]);
      }),
  };
  for (const [name, decide] of Object.entries(deciding))
    test(`that differ in a decision are all found: ${name}`, () => {
      const missed: string[] = [];
      let found = 0;
      for (const { id, result: _, changed: __, ...written } of cases(name)) {
        const [before, after] = decide(written);
        if (before === after) continue;
        found += 1;
        const said = saidOf([...written.policies, ...(written.bindings ?? [])], name === "map" ? mutatingKind : kind);
        if (!said.some(({ severity }) => severity === "warning")) missed.push(id);
      }
      assert.deepEqual(missed, []);
      assert.ok(found > 1);
    });
});
