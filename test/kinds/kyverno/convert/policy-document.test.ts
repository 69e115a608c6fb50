import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertPolicy } from "../../../../src/kinds/kyverno/convert/index.js";
import { converted, documentsOf, type Json, judged, matching, object, policyOf, specsOf } from "./judged.js";

describe("a converted policy", () => {
  test("keeps names, labels and annotations, and tells where it comes from", () => {
    const metadata = {
      name: "need-team",
      namespace: "shop",
      labels: { a: "b" },
      annotations: {
        "policies.kyverno.io/title": "Team",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "pod-policies.kyverno.io/autogen-controllers": "none",
      },
    };
    const [document] = documentsOf(converted(policyOf({}, {}, { kind: "Policy", metadata })));
    assert.deepEqual([document?.apiVersion, document?.kind], ["policies.kyverno.io/v1", "NamespacedValidatingPolicy"]);
    assert.deepEqual(document?.metadata, {
      name: "need-team",
      namespace: "shop",
      labels: { a: "b" },
      annotations: {
        "policies.kyverno.io/title": "Team",
        "policy-server/converted-from": "Policy/shop/need-team",
        "policy-server/converted-rule": "check",
      },
    });
  });

  test("tells whether its rule judges controllers, whatever it looks at", () => {
    const told = (kinds: readonly string[], validate: Json, annotations: Json = {}) => {
      const metadata = { name: "p", annotations };
      const documents = documentsOf(converted(policyOf({ match: matching({ kinds }), validate }, {}, { metadata })));
      return documents.map((each) => ((each.metadata as Json).annotations as Json)["policy-server/converted-autogen"]);
    };
    const operation = { key: "{{ request.operation }}", operator: "Equals", value: "CREATE" };
    const [deny, cel] = [
      { deny: { conditions: { all: [operation] } } },
      { cel: { expressions: [{ expression: "1 > 2" }] } },
    ];
    assert.deepEqual(told(["Pod"], deny), ["true"]);
    assert.deepEqual(told(["Pod"], cel), ["true", "true"]);
    assert.deepEqual(told(["Deployment"], deny), [undefined]);
    assert.deepEqual(told(["Pod"], deny, { "pod-policies.kyverno.io/autogen-controllers": "none" }), [undefined]);
  });

  test("of one of several rules has its name, too", () => {
    const rule = (name: string) => ({ name, match: matching({ kinds: ["ConfigMap"] }), validate: { deny: {} } });
    const names = (...rules: readonly string[]) =>
      documentsOf(converted(policyOf({}, { rules: rules.map(rule) }))).map((each) => (each.metadata as Json).name);
    assert.deepEqual(names("only one"), ["p"]);
    assert.deepEqual(names("One rule", "one_rule", "ok"), ["p-one-rule", "p-one-rule-2", "p-ok"]);
  });

  test("keeps what the webhook is told", () => {
    const [spec] = specsOf(
      converted(
        policyOf({}, { failurePolicy: "Ignore", webhookTimeoutSeconds: 5, admission: false, background: true }),
      ),
    );
    assert.deepEqual(
      [spec?.failurePolicy, spec?.webhookConfiguration, spec?.evaluation],
      ["Ignore", { timeoutSeconds: 5 }, { admission: { enabled: false } }],
    );
    const matchConditions = [{ name: "no-leases", expression: 'request.resource.resource != "leases"' }];
    const [other] = specsOf(
      converted(
        policyOf({}, { webhookConfiguration: { failurePolicy: "Ignore", timeoutSeconds: 7, matchConditions } }),
      ),
    );
    assert.deepEqual(
      [other?.failurePolicy, other?.webhookConfiguration, other?.matchConditions],
      ["Ignore", { timeoutSeconds: 7 }, matchConditions],
    );
  });

  test("reports the rule's fixed properties", async () => {
    const made = converted(policyOf({ reportProperties: { owner: 'a "b"', other: "{{ request.namespace }}" } }));
    assert.deepEqual(specsOf(made)[0]?.auditAnnotations, [{ key: "owner", valueExpression: '"a \\"b\\""' }]);
    assert.deepEqual(
      made.rules[0]?.notes.map(({ path }) => path.join(".")),
      ["spec.rules.0.reportProperties.other"],
    );
  });

  test("says the places of its parts in the old policy", () => {
    const made = convertPolicy(policyOf({ match: matching({ kinds: ["ConfigMap"], names: ["a*"] }) }));
    assert.deepEqual(Object.fromEntries(made.rules[0]?.documents[0]?.places ?? []), {
      "spec.matchConditions[0]": ["spec", "rules", 0, "match", "any", 0, "resources", "names"],
      "spec.validations[0]": ["spec", "rules", 0, "validate", "deny"],
      "spec.matchConstraints": ["spec", "rules", 0, "match"],
    });
  });
});

describe("the action", () => {
  const actions = (validate: Json, spec: Json = {}) =>
    specsOf(converted(policyOf({ validate: { message: "m", deny: {}, ...validate } }, spec))).map((each) =>
      each.validationActions?.join(),
    );

  test("is the rule's, or the policy's", () => {
    assert.deepEqual(actions({}), ["Audit"]);
    assert.deepEqual(actions({}, { validationFailureAction: "enforce" }), ["Deny"]);
    assert.deepEqual(actions({ failureAction: "Audit" }, { validationFailureAction: "Enforce" }), ["Audit"]);
    assert.deepEqual(actions({}, { emitWarning: true }), ["Audit,Warn"]);
    assert.deepEqual(actions({ failureAction: "Enforce" }, { emitWarning: true }), ["Deny"]);
  });

  test("differs by namespace in two policies", async () => {
    const overrides = [
      { action: "Audit", namespaceSelector: { matchLabels: { tier: "test" } } },
      { action: "Enforce", namespaces: ["bank*"] },
      { action: "Enforce", namespaceSelector: { matchLabels: { tier: "tin" } } },
    ];
    const made = converted(policyOf({}, { validationFailureActionOverrides: overrides }));
    assert.deepEqual(
      documentsOf(made).map(({ metadata, spec }) => [(metadata as Json).name, (spec as Json).validationActions]),
      [
        ["p", ["Audit"]],
        ["p-enforce", ["Deny"]],
      ],
    );
    const objects = ["shop", "bank", "bank-test", "tin"].map((namespace) => object("ConfigMap", "a", namespace));
    assert.deepEqual(
      await judged(made, objects, {
        namespaces: { shop: {}, bank: {}, "bank-test": { tier: "test" }, tin: { tier: "tin" } },
      }),
      ["fail matched skip", "skip fail matched", "fail matched skip", "skip fail matched"],
    );
  });

  test("of the rule leaves the policy's overrides without effect", () => {
    const validationFailureActionOverrides = [{ action: "Enforce", namespaces: ["a"] }];
    assert.deepEqual(actions({ failureAction: "Audit" }, { validationFailureActionOverrides }), ["Audit"]);
    assert.deepEqual(actions({ failureAction: "Audit", failureActionOverrides: [{ action: "Enforce" }] }), ["Deny"]);
  });

  test("that denies updates of what was wrong before is told", () => {
    const notes = (validate: Json) =>
      converted(policyOf({ validate: { deny: {}, failureAction: "Enforce", ...validate } })).rules[0]?.notes.length;
    assert.deepEqual(
      [notes({}), notes({ allowExistingViolations: false }), notes({ failureAction: "Audit" })],
      [1, 0, 0],
    );
  });
});
