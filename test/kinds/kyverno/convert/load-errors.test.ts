import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertPolicy } from "../../../../src/kinds/kyverno/convert/index.js";
import { type Json, matching, policyOf, reasonsOf } from "./judged.js";

const RULE = "spec.rules.0";
const reason = (rule: Json, spec: Json = {}, more: Json = {}): string => {
  const { rules, reasons } = convertPolicy(policyOf(rule, spec, more));
  assert.deepEqual(rules, []);
  return reasonsOf({ rules, reasons })[0] ?? "";
};
const kinds = (resources: Json) => ({ match: matching({ kinds: ["ConfigMap"], ...resources }) });
const twoRules = (names: readonly string[], kindsOf: readonly string[]) =>
  names.map((name, index) => ({ name, match: matching({ kinds: [kindsOf[index]] }), validate: { deny: {} } }));

describe("a policy that Kyverno does not take is not converted", () => {
  const cases: readonly (readonly [what: string, rule: Json, place: string, spec?: Json, more?: Json])[] = [
    ["without rules", {}, "spec.rules", { rules: [] }],
    ["with an unknown member", { validate: { paterns: {}, deny: {} } }, `${RULE}.validate.paterns`],
    ["with a member of a wrong type", { validate: { message: 1, deny: {} } }, `${RULE}.validate.message`],
    ["without match", { match: undefined }, `${RULE}.match`],
    ["with a long rule name", { name: "x".repeat(64) }, `${RULE}.name`],
    ["with a long name", {}, "metadata.name", {}, { metadata: { name: "x".repeat(64) } }],
    ["with name and names", kinds({ name: "a", names: ["b"] }), `${RULE}.match.any.0.resources.names`],
    [
      "with any and all",
      { match: { ...matching({ kinds: ["A"] }), all: [{ resources: { kinds: ["A"] } }] } },
      `${RULE}.match`,
    ],
    [
      "with a block without kinds",
      { match: { all: [{ resources: { kinds: ["A"] } }, { resources: { names: ["a"] } }] } },
      `${RULE}.match.all.1`,
    ],
    ["with an empty selector", kinds({ selector: {} }), `${RULE}.match.any.0.resources.selector`],
    [
      "with a selector of a bad key",
      kinds({ selector: { matchExpressions: [{ key: "a*", operator: "Exists" }] } }),
      `${RULE}.match.any.0.resources.selector`,
    ],
    ["with variables in match", kinds({ names: ["{{ request.namespace }}"] }), `${RULE}.match`],
    [
      "with users in background",
      { match: { any: [{ resources: { kinds: ["A"] }, subjects: [{ kind: "User", name: "a" }] }] } },
      `${RULE}.match.any.0`,
      { background: true },
    ],
    [
      "with users in a message in background",
      { validate: { message: "{{ request.userInfo.username }}", deny: {} } },
      `${RULE}.validate.message`,
      { background: true },
    ],
    [
      "with a subject of a bad kind",
      { match: { any: [{ resources: { kinds: ["A"] }, subjects: [{ kind: "Users", name: "a" }] }] } },
      `${RULE}.match.any.0.subjects.0.kind`,
    ],
    [
      "with a role without namespace",
      { match: { any: [{ resources: { kinds: ["A"] }, roles: ["a"] }] } },
      `${RULE}.match.any.0.roles.0`,
    ],
    ["with two checks", { validate: { deny: {}, pattern: {} } }, `${RULE}.validate`],
    ["with two actions", { generate: {} }, RULE],
    ["with celPreconditions without cel", { celPreconditions: [] }, `${RULE}.celPreconditions`],
    [
      "with an element outside of a loop",
      { validate: { message: "{{ element.name }}", deny: {} } },
      `${RULE}.validate.message`,
    ],
    ["with a loop without list", { validate: { foreach: [{ pattern: { a: 1 } }] } }, `${RULE}.validate.foreach.0`],
    ["with a number for a label", { validate: { pattern: { metadata: { labels: { a: 1 } } } } }, `${RULE}.validate`],
    [
      "with null for an annotation of a template",
      { validate: { anyPattern: [{ spec: { template: { metadata: { annotations: { a: null } } } } }] } },
      `${RULE}.validate`,
    ],
    ["of a bad level", { validate: { podSecurity: { level: "strict" } } }, `${RULE}.validate.podSecurity.level`],
    ["with two rules of a name", {}, "spec.rules.1.name", { rules: twoRules(["a", "a"], ["ConfigMap", "Secret"]) }],
    [
      "with autogen for all",
      {},
      "metadata.annotations.pod-policies.kyverno.io/autogen-controllers",
      {},
      { metadata: { name: "p", annotations: { "pod-policies.kyverno.io/autogen-controllers": "all" } } },
    ],
    [
      "with rules of which one alone applies",
      {},
      "spec.applyRules",
      { applyRules: "One", rules: twoRules(["a", "b"], ["Secret", "Secret"]) },
    ],
  ];
  for (const [what, rule, place, spec, more] of cases)
    test(what, () => {
      assert.equal(reason(rule, spec, more).split(": ")[0], place);
    });
});

test("a policy that Kyverno takes has no such reason", () => {
  for (const policy of [
    policyOf({}, { applyRules: "One", rules: twoRules(["a", "b"], ["ConfigMap", "Secret"]) }),
    policyOf({ validate: { message: "\\{{ element }}", deny: {} } }),
    // Kyverno looks at one of both only.
    policyOf({ validate: { pattern: { metadata: { labels: { a: 1 } }, spec: { a: 1 } } } }),
    policyOf({ validate: { anyPattern: [{ metadata: { "=(labels)": { a: 1 } } }] } }),
    policyOf({ match: { resources: { kinds: ["ConfigMap"], selector: { matchLabels: { "a*": "*" } } } } }),
    policyOf({
      validate: {
        foreach: [
          {
            list: "request.object.data",
            deny: { conditions: { any: [{ key: "{{ element }}", operator: "Equals", value: "a" }] } },
          },
        ],
      },
    }),
  ])
    assert.deepEqual(convertPolicy(policy).reasons, []);
});
