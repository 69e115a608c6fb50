import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError } from "../../../src/cel/index.js";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { RequestValue } from "../../../src/kinds/certificate-request-policy/request-value.js";
import { compileRule } from "../../../src/kinds/certificate-request-policy/rules.js";

const compiler = createRuleCompiler();

/** What a rule says of a request of this user. */
function said(rule: string, username: string): unknown {
  const { program, error } = compileRule(rule, compiler);
  assert.ok(program !== undefined, error);
  const { result } = program.evaluate({ self: "", cr: new RequestValue("", "", username, []) });
  return result instanceof CelError ? result.message : result;
}

const isOne = (username: string): unknown => said("isServiceAccount(cr.username)", username);

describe("a service account", () => {
  test("is a user name of two parts behind the prefix, a label and a subdomain", () => {
    const [label, subdomain] = ["a".repeat(63), `${"b".repeat(249)}.cde`];
    for (const rest of ["a:b", "a-1:b.c-d", `${label}:${subdomain}`])
      assert.equal(isOne(`system:serviceaccount:${rest}`), true, rest);
    const wrong = [
      "",
      "a",
      "a:",
      ":b",
      "a:b:c",
      "A:b",
      "a:B",
      "a.b:c",
      "a:b_c",
      "a:-b",
      `${label}a:b`,
      `a:${subdomain}f`,
    ];
    for (const rest of wrong) assert.equal(isOne(`system:serviceaccount:${rest}`), false, rest);
    for (const user of ["", "bob", "system:node:a:b", "System:serviceaccount:a:b", " system:serviceaccount:a:b"])
      assert.equal(isOne(user), false, user);
  });

  test("has a name and a namespace", () => {
    const rule =
      "serviceAccount(cr.username).getName() + '/' + serviceAccount(cr.username).getNamespace() == 'web/shop'";
    assert.equal(said(rule, "system:serviceaccount:shop:web"), true);
  });

  test("is what the user is, or it is an error", () => {
    const error =
      "Unable to convert to serviceaccount: err: Username must be in the form system:serviceaccount:namespace:name, username: bob";
    assert.equal(said("serviceAccount(cr.username).getName() == ''", "bob"), error);
  });

  test("equals another of the same name and namespace, and is compared with nothing else", () => {
    const equals = (other: string) => `serviceAccount(cr.username) == ${other}`;
    const user = "system:serviceaccount:a:b";
    assert.equal(said(equals("serviceAccount('system:serviceaccount:a:b')"), user), true);
    assert.equal(said(equals("serviceAccount('system:serviceaccount:b:b')"), user), false);
    assert.equal(said(equals("dyn(cr.username)"), user), "no such overload");
  });
});
