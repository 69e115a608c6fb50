import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MOST_VARIABLES } from "../../../src/kinds/kyverno/compile.js";
import { preparePolicies } from "../../../src/kinds/kyverno/index.js";
import type { NamedExpression, PolicySpec } from "../../../src/kinds/kyverno/resource.js";
import { PODS, policy } from "./asked.js";

const withVariables = (variables: readonly NamedExpression[], expression = "true", more: Partial<PolicySpec> = {}) =>
  policy({ matchConstraints: { resourceRules: [PODS] }, variables, validations: [{ expression }], ...more });

/** What is wrong with policies that are loaded together. */
const mistakesOf = (...policies: Parameters<typeof preparePolicies>[0]): readonly string[] =>
  preparePolicies(policies, []).failures.map((failure) => JSON.stringify(failure));

/** Each of them names the one before. */
const row = (length: number): readonly NamedExpression[] =>
  Array.from({ length }, (_, i) => ({ name: `v${i}`, expression: i === 0 ? "1" : `variables.v${i - 1} + 1` }));

describe("a variable", () => {
  test("sees those before it only, and the last of those with one name", () => {
    const later = withVariables([
      { name: "a", expression: "variables.b" },
      { name: "b", expression: "1" },
    ]);
    assert.match(mistakesOf(later).join(), /undefined field 'b'/);
    const twice = [
      { name: "a", expression: "1" },
      { name: "b", expression: "variables.a + 1" },
      { name: "a", expression: "'text'" },
    ];
    assert.deepEqual(mistakesOf(withVariables(twice, "variables.a == 'text' && variables.b == 2")), []);
    assert.match(mistakesOf(withVariables(twice, "variables.a == 1")).join(), /no matching overload/);
  });

  test("has in each policy the type that it has there", () => {
    const number = withVariables([{ name: "a", expression: "1" }], "variables.a == 1");
    const text = withVariables([{ name: "a", expression: "'1'" }], "variables.a == '1'");
    const wrong = withVariables([{ name: "a", expression: "'1'" }], "variables.a == 1");
    assert.deepEqual(mistakesOf(number, text, number), []);
    assert.equal(mistakesOf(number, text, wrong).length, 1);
  });

  test("is compiled as fast when there are many", () => {
    const autogen = { podControllers: { controllers: ["deployments", "cronjobs"] } };
    const many = withVariables(row(MOST_VARIABLES), "variables.v9 == 10", { autogen });
    const before = process.cpuUsage();
    assert.deepEqual(mistakesOf(many), []);
    // Otherwise, where every expression looks at all of them, it takes five seconds.
    assert.ok(process.cpuUsage(before).user < 2_000_000);
  });

  test("is one of a limited number", () => {
    assert.match(mistakesOf(withVariables(row(MOST_VARIABLES + 1))).join(), /Too many: 1001: must have at most 1000/);
  });
});
