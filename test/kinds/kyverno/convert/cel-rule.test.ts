import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertPolicy } from "../../../../src/kinds/kyverno/convert/index.js";
import { converted, type Json, judged, matching, object, policyOf, reasonsOf, specsOf } from "./judged.js";

const ruleOf = (cel: Json, rule: Json = {}, validate: Json = {}, operations = ["CREATE", "UPDATE"]) =>
  policyOf({ match: matching({ kinds: ["ConfigMap"], operations }), validate: { ...validate, cel }, ...rule });
const specOf = (cel: Json, rule: Json = {}, validate: Json = {}, operations = ["CREATE", "UPDATE"]) =>
  specsOf(converted(ruleOf(cel, rule, validate, operations)))[0];

describe("a rule in CEL", () => {
  test("stays word for word", () => {
    const spec = specOf(
      {
        variables: [{ name: "big", expression: "object.data" }],
        expressions: [
          { expression: "variables.big.k == '1'", message: " m ", reason: "Forbidden" },
          { expression: "true", messageExpression: "'x'" },
        ],
        auditAnnotations: [{ key: "a", valueExpression: "'b'" }],
      },
      { celPreconditions: [{ name: "only", expression: "has(object.data)" }] },
      { message: "of the rule" },
    );
    assert.deepEqual(spec?.variables, [{ name: "big", expression: "object.data" }]);
    assert.deepEqual(spec?.validations, [
      { expression: "variables.big.k == '1'", message: "m", reason: "Forbidden" },
      { expression: "true", messageExpression: "'x'", message: "of the rule" },
    ]);
    assert.deepEqual(spec?.matchConditions, [{ name: "only", expression: "has(object.data)" }]);
    assert.deepEqual(spec?.auditAnnotations, [{ key: "a", valueExpression: "'b'" }]);
  });

  test("says its expression where it has no message", () => {
    assert.deepEqual(specOf({ expressions: [{ expression: "false" }] })?.validations, [
      { expression: "false", message: "failed expression: false" },
    ]);
  });

  test("takes absent objects for null", async () => {
    const expression = (text: string) =>
      specOf({ expressions: [{ expression: text }] }, {}, {}, ["CREATE", "DELETE"])?.validations?.[0]?.expression;
    assert.equal(
      expression("oldObject == null || object.metadata.name != 'object == null'"),
      "oldObject == {} || object.metadata.name != 'object == null'",
    );
    assert.equal(expression("null != object"), "{} != object");
    assert.equal(
      expression("[oldObject].exists(o, o == null)"),
      "[(oldObject == {} ? null : oldObject)].exists(o, o == null)",
    );
    const made = converted(
      ruleOf({ expressions: [{ expression: "oldObject == null", message: "m" }] }, {}, {}, ["CREATE", "DELETE"]),
    );
    assert.deepEqual(await judged(made, [object("ConfigMap", "a")]), ["pass"]);
    assert.deepEqual(await judged(made, [object("ConfigMap", "a")], { operation: "DELETE" }), ["fail m"]);
    assert.equal(
      specOf({ expressions: [{ expression: "oldObject != null" }] }, {}, {}, ["UPDATE"])?.validations?.[0]?.expression,
      "oldObject != null",
    );
  });

  test("looks parameters up by name", () => {
    const params = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      paramRef: { name: "lim", namespace: "ops", parameterNotFoundAction: "Allow" },
    };
    const spec = specOf({ ...params, expressions: [{ expression: "params.data.max == 'params'" }] });
    const lookUp = 'dyn(resource.Get("v1", "configmaps", "ops", "lim"))';
    assert.deepEqual(spec?.variables, [{ name: "params", expression: lookUp }]);
    assert.equal(spec?.validations?.[0]?.expression, "variables.params.data.max == 'params'");
    assert.deepEqual(spec?.matchConditions, [{ name: "has-parameters", expression: `${lookUp} != null` }]);
  });

  test("is refused with what to write instead", () => {
    const refused = (cel: Json, rule: Json = {}) => reasonsOf(convertPolicy(ruleOf(cel, rule), { compiles: true }))[0];
    assert.match(
      refused({ expressions: [{ expression: "authorizer.path('/x').check('get').allowed()" }] }) ?? "",
      /^spec\.rules\.0\.validate\.cel\.expressions\.0\.expression: .*--to vap/,
    );
    assert.match(
      refused({ expressions: [{ expression: "object." }] }) ?? "",
      /^spec\.rules\.0\.validate\.cel\.expressions\.0: it does not compile: Syntax error/,
    );
    assert.match(
      refused(
        { expressions: [{ expression: "true" }] },
        { celPreconditions: [{ name: "a", expression: "variables.x" }] },
      ) ?? "",
      /match conditions have no variables/,
    );
    const selector = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      paramRef: { selector: { matchLabels: { a: "b" } }, parameterNotFoundAction: "Deny" },
    };
    assert.match(
      refused({ ...selector, expressions: [{ expression: "true" }] }) ?? "",
      /^spec\.rules\.0\.validate\.cel\.paramRef: /,
    );
  });
});
