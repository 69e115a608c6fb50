import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError } from "../../../src/cel/index.js";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { RequestValue } from "../../../src/kinds/certificate-request-policy/request-value.js";
import { compileRule } from "../../../src/kinds/certificate-request-policy/rules.js";

const compiler = createRuleCompiler();
const TYPE = "cm.io.policy.pkg.internal.approver.validation.CertificateRequest";

function said(rule: string, cr: RequestValue): unknown {
  const { program, error } = compileRule(rule, compiler);
  if (program === undefined) return error?.split("\n")[0];
  const { result } = program.evaluate({ self: "", cr });
  return result instanceof CelError ? result.message : result;
}

const FULL = new RequestValue("web", "shop", "ann", ["dev", "ops"]);
const EMPTY = new RequestValue("", "", "", []);

describe("the request that rules see", () => {
  test("has four fields, and no other", () => {
    assert.equal(said("cr.name + cr.namespace + cr.username + cr.groups[1] == 'webshopannops'", FULL), true);
    assert.equal(said("cr.uid == ''", FULL), "ERROR: <input>:1:3: undefined field 'uid'");
    assert.equal(said("dyn(cr).uid == ''", FULL), "no such field 'uid'");
    assert.equal(said("dyn(cr)[0] == ''", FULL), "no such overload");
    assert.equal(said("dyn(cr).constructor == ''", FULL), "no such field 'constructor'");
  });

  test("has what is not empty, and reads as empty what it has not", () => {
    for (const field of ["name", "namespace", "username", "groups"]) {
      assert.equal(said(`has(cr.${field})`, FULL), true, field);
      assert.equal(said(`has(cr.${field})`, EMPTY), false, field);
    }
    assert.equal(said("cr.name == '' && cr.groups == []", EMPTY), true);
  });

  test("equals one that a rule makes of the same", () => {
    assert.equal(said(`${TYPE}{} == cr`, EMPTY), true);
    assert.equal(said(`${TYPE}{} == cr`, FULL), false);
    const same = `${TYPE}{name: 'web', namespace: 'shop', username: 'ann', groups: ['dev', 'ops']}`;
    assert.equal(said(`cr == ${same} && type(cr) == ${TYPE}`, FULL), true);
    assert.equal(said(`cr == ${same.replace("'dev', 'ops'", "'ops', 'dev'")}`, FULL), false);
  });

  test("is made of texts only, and of a service account, which is its user name there", () => {
    const misfit = `field type conversion error for ${TYPE}.name value type: unsupported type conversion from 'int' to string`;
    assert.equal(said(`${TYPE}{name: dyn(1)} == cr`, FULL), misfit);
    assert.equal(
      said(`${TYPE}{groups: dyn({})} == cr`, FULL),
      `unsupported field type for ${TYPE}.groups: map(dyn, dyn)`,
    );
    const user = "system:serviceaccount:a:b";
    assert.equal(said(`${TYPE}{username: dyn(serviceAccount('${user}'))}.username == '${user}'`, FULL), true);
  });
});
