import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MatchResources } from "../../../src/kinds/shared/match/match-resources.js";
import { matchWarnings } from "../../../src/kinds/shared/match/match-warnings.js";
import type { ResourceRule } from "../../../src/kinds/shared/match/resource-rule.js";
import { formatPath } from "../../../src/kubernetes/field-error.js";

const PODS = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };

const said = (match: MatchResources): readonly string[] =>
  matchWarnings(match, []).map(
    ({ path, text, hint }) => `${formatPath(path)}: ${text}${hint === undefined ? "" : ` (${hint})`}`,
  );
const saidOfRule = (rule: ResourceRule, matchPolicy = "Exact"): readonly string[] =>
  said({ matchPolicy, resourceRules: [{ ...PODS, ...rule }] });

describe("rules that match nothing", () => {
  for (const [rule, place, hint] of [
    [{ resources: ["pod"] }, "resources[0]", '"pods"'],
    [{ resources: ["pods", "Service"] }, "resources[1]", '"services"'],
    [{ resources: ["NetworkPolicy"], apiGroups: ["networking.k8s.io"] }, "resources[0]", '"networkpolicies"'],
    [{ resources: ["deployments"] }, "resources[0]", 'apiGroups: ["apps"]'],
    [{ resources: ["pods"], apiGroups: ["apps"] }, "resources[0]", 'apiGroups: [""]'],
    [{ resources: ["widgets"] }, "resources[0]", ""],
    [{ apiGroups: ["core"] }, "apiGroups[0]", '""'],
    [{ apiGroups: ["apps/v1"], resources: ["deployments"] }, "apiGroups[0]", '"apps"'],
    [{ apiGroups: ["apps"], apiVersions: ["apps/v1"], resources: ["deployments"] }, "apiVersions[0]", '"v1"'],
    [{ apiGroups: ["extensions"], apiVersions: ["v1beta1"], resources: ["deployments"] }, "apiVersions", ""],
    [{ apiGroups: ["apps"], apiVersions: ["v1beta1"], resources: ["deployments"] }, "apiVersions", '["v1"]'],
    [{ scope: "Cluster" }, "resources[0]", "scope"],
    [{ resources: ["namespaces"], scope: "Namespaced" }, "resources[0]", "scope"],
    [{ operations: ["CONNECT"] }, "operations", "pods/exec"],
    [{ resources: ["pods/exec"] }, "operations", "CONNECT"],
  ] as const) {
    test(JSON.stringify(rule), () => {
      const [first = "", ...more] = saidOfRule(rule);
      assert.deepEqual(more, []);
      assert.ok(first.startsWith(`resourceRules[0].${place}: `), first);
      assert.ok(first.includes(hint), first);
    });
  }

  test("are those that an exclude rule covers, and selectors that contradict themselves", () => {
    const every = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] };
    assert.deepEqual(said({ resourceRules: [PODS], excludeResourceRules: [every] }), [
      "resourceRules[0]: excludeResourceRules[0] excludes all that this rule matches",
    ]);
    const requirement = (operator: string, ...values: string[]) => ({ key: "a", operator, values });
    for (const selector of [
      { matchExpressions: [requirement("In", "x", "y"), requirement("NotIn", "y", "x")] },
      { matchLabels: { a: "x" }, matchExpressions: [requirement("NotIn", "x")] },
      { matchExpressions: [requirement("In", "x"), requirement("In", "y")] },
      { matchExpressions: [requirement("Exists"), requirement("DoesNotExist")] },
    ])
      assert.equal(said({ resourceRules: [PODS], namespaceSelector: selector }).length, 1);
  });
});

describe("nothing is said of rules that match something, or may", () => {
  for (const rule of [
    {},
    { resources: ["*"], apiGroups: ["*"] },
    { resources: ["pods/*"] },
    { resources: ["pods", "pods/ephemeralcontainers"] },
    { resources: ["pods/exec"], operations: ["CONNECT"] },
    { resources: ["pods/exec"], operations: ["*"] },
    { resources: ["deployments", "pods"], apiGroups: ["", "apps"] },
    { resources: ["deployments"], apiGroups: ["apps", "extensions"], apiVersions: ["v1", "v1beta1"] },
    { resources: ["widgets"], apiGroups: ["example.com"], apiVersions: ["v1"] },
    { resources: ["podsecuritypolicies"], apiGroups: ["policy"], apiVersions: ["*"] },
    { resources: ["endpoints", "resourcequotas"] },
    { resources: ["ingresses"], apiGroups: ["networking.k8s.io"] },
    { resources: ["namespaces"], scope: "Cluster" },
    { resources: ["nodes"], scope: "Cluster" },
    { resources: ["*"], scope: "Cluster" },
    {
      resources: ["validatingadmissionpolicies"],
      apiGroups: ["admissionregistration.k8s.io"],
      apiVersions: ["v1beta1"],
    },
  ] as const) {
    test(JSON.stringify(rule), () => assert.deepEqual(saidOfRule(rule), []));
  }

  test("and of old versions where all are equivalent", () => {
    const rule = { apiGroups: ["apps"], apiVersions: ["v1beta1"], resources: ["deployments"] };
    assert.deepEqual(saidOfRule(rule, "Equivalent"), []);
  });

  test("and of selectors and exclude rules that leave something", () => {
    const match = {
      resourceRules: [{ ...PODS, operations: ["CREATE", "UPDATE"] }],
      excludeResourceRules: [PODS, { ...PODS, operations: ["*"], resourceNames: ["x"] }],
      namespaceSelector: {
        matchExpressions: [
          { key: "a", operator: "In", values: ["x", "y"] },
          { key: "a", operator: "NotIn", values: ["x"] },
        ],
      },
    };
    assert.deepEqual(said(match), []);
  });
});
