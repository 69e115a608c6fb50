import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { compileRule } from "../../../src/kinds/certificate-request-policy/rules.js";

const compiler = createRuleCompiler();
const errorOf = (rule: string): string => compileRule(rule, compiler).error ?? "";

describe("rules that a webhook refuses (spec certificate-request-policy.md 8.6)", () => {
  test("99: a field of a string", () => {
    const text = "ERROR: <input>:1:5: type 'string' does not support field selection";
    assert.equal(errorOf("self.length < 24"), `${text}\n | self.length < 24\n | ....^`);
  });

  test("100: a field that the request has not", () => {
    assert.ok(errorOf("cr.foo == 'x'").includes("undefined field 'foo'"));
  });

  test("101: an empty rule", () => {
    const error = errorOf("");
    assert.ok(error.startsWith("ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'"), error);
    assert.ok(!error.includes("\n"), error);
  });

  test("102: what is no token", () => {
    for (const rule of ["self.matches('\\d+')", "self.size() =< 64"])
      assert.ok(errorOf(rule).includes("Syntax error: token recognition error"), rule);
  });

  test("103: a function of Kubernetes'", () => {
    const text = "ERROR: <input>:1:6: undeclared reference to 'isURL' (in container '')";
    assert.equal(errorOf("isURL(self)"), `${text}\n | isURL(self)\n | .....^`);
  });
});
