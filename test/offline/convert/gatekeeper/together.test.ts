import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { filesOf, printed } from "../../../../src/offline/convert/index.js";
import { constraint, converted, errorsOf, type Json, judge, SOURCE, template } from "./converted.js";

describe("what several documents say together", () => {
  test("CEL goes before Rego, whatever their order", () => {
    const both = structuredClone(template(SOURCE)) as { spec: { targets: { code: object[] }[] } };
    both.spec.targets[0]?.code.unshift({ engine: "Rego", source: { rego: "package a" } });
    const made = converted(both as unknown as Json, constraint({}));
    assert.ok(made.policies.every(({ documents }) => documents.length > 0));
    assert.match(made.problems.map(({ message }) => message).join(), /has Rego, too/);
  });

  test("the same document twice is one, and Constraints of one name in two kinds get two names", () => {
    const made = converted(
      template(SOURCE),
      template(SOURCE),
      constraint({}),
      constraint({}),
      template(SOURCE, {}, "Other"),
      constraint({}, "rule", "Other"),
    );
    assert.deepEqual(errorsOf(made), []);
    assert.deepEqual(
      made.policies.map(({ name }) => name),
      ["rule-rule", "other-rule"],
    );
  });

  for (const [what, ...documents] of [
    [
      "in two kinds, and one that has the longer name already",
      template(SOURCE, {}, "Other"),
      constraint({}),
      constraint({}, "rule", "Other"),
      constraint({}, "other-rule"),
    ],
    [
      "and with Namespaces apart",
      constraint({ match: { namespaceSelector: { matchLabels: { a: "b" } } } }),
      constraint({}, "rule-namespaces"),
    ],
    ["and with the file of the configuration", constraint({}, "policies"), constraint({}, "rule-policies")],
  ] as const)
    test(`no policy takes the place of another of its name: ${what}`, () => {
      const made = converted(template(SOURCE), ...documents);
      assert.match(errorsOf(made).join(), /metadata\.name: another policy gets the name/);
      assert.equal(made.policies.length, documents.filter(({ kind }) => kind !== "ConstraintTemplate").length - 1);
      assert.ok(!filesOf(made.policies, "vap").has("policies.yaml"));
      const names = made.policies.flatMap(({ entries }) => Object.keys(entries));
      assert.equal(new Set(names).size, names.length);
    });

  test("of three Constraints of one name each is named once, and none is converted", () => {
    const different = ["deny", "warn", "dryrun"].map((enforcementAction) => constraint({ enforcementAction }));
    const made = converted(template(SOURCE), ...different);
    assert.deepEqual([made.policies.length, errorsOf(made).length], [0, 3]);
  });

  test("a Config's excluded namespaces count, those of other processes do not", async () => {
    const config = {
      apiVersion: "config.gatekeeper.sh/v1alpha1",
      kind: "Config",
      metadata: { name: "config", namespace: "gatekeeper-system" },
      spec: {
        match: [
          { processes: ["*"], excludedNamespaces: ["kube-*"] },
          { processes: ["audit"], excludedNamespaces: ["a"] },
        ],
      },
    };
    const pod = (namespace: string): { object: Json } => ({
      object: { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace } },
    });
    const answers = await judge(converted(config, template(SOURCE), constraint({})), [pod("kube-system"), pod("a")]);
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [true, false],
    );
  });

  test("of several Configs none exempts, and what each keeps counts", () => {
    const config = (namespace: string, kind: string): Json => ({
      apiVersion: "config.gatekeeper.sh/v1alpha1",
      kind: "Config",
      metadata: { name: "config" },
      spec: {
        match: [{ processes: ["*"], excludedNamespaces: [namespace] }],
        sync: { syncOnly: [{ group: "", version: "v1", kind }] },
      },
    });
    const made = converted(config("a", "Pod"), config("b", "Service"), template(SOURCE), constraint({}));
    assert.deepEqual(errorsOf(made), []);
    assert.ok(!printed(made.policies, "vap").includes("excluded-namespaces"));
  });

  test("what Gatekeeper keeps for Rego is what a module may read", () => {
    const made = structuredClone(template(SOURCE)) as { spec: { targets: object[] } };
    made.spec.targets = [
      { target: "admission.k8s.gatekeeper.sh", rego: "package a.b\nviolation[x] { x := data.inventory }" },
    ];
    const set = {
      apiVersion: "syncset.gatekeeper.sh/v1alpha1",
      kind: "SyncSet",
      metadata: { name: "s" },
      spec: { gvks: [{ group: "apps", version: "v1", kind: "Deployment" }] },
    };
    const [policy] = converted(set, made as unknown as Json, constraint({ enforcementAction: "dryrun" })).policies;
    assert.deepEqual(policy?.entries.rule, {
      module: "./rule/policy.wasm",
      executionMode: "gatekeeper",
      contextAwareResources: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      policyMode: "monitor",
    });
    assert.match(policy.build, /^opa build --v0-compatible -t wasm -e a\/b\/violation /);
  });

  test("messages are kept: one of several lines becomes one line", async () => {
    const source = { validations: [{ expression: "false", message: "first\n  second\n" }] };
    const pod = { object: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } } };
    assert.equal((await judge(converted(template(source), constraint({})), [pod]))[0]?.message, "first second");
  });

  test("what Gatekeeper does not read is left out, and said", () => {
    const made = converted(
      template({ ...SOURCE, matchConditions: [{ name: "a", expression: "false" }] }),
      constraint({}),
    );
    assert.deepEqual(errorsOf(made), []);
    assert.match(made.problems.map(({ message }) => message).join(), /it reads matchCondition/);
    assert.ok(!printed(made.policies, "vap").includes("matchConditions"));
  });
});
