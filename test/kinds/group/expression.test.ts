import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileGroupExpression } from "../../../src/kinds/group/expression.js";

const members = ["signed", "trusted_registry"];

function problems(source: string): string[] {
  const compiled = compileGroupExpression(source, members);
  assert.ok("problems" in compiled, `${source} compiled`);
  return compiled.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

function warnings(source: string): string[] {
  const compiled = compileGroupExpression(source, members);
  assert.ok("program" in compiled, JSON.stringify(compiled));
  return compiled.warnings.map(({ message }) => message);
}

describe("mistakes are found at load", () => {
  test("not boolean", () => {
    assert.deepEqual(problems("signed() ? 1 : 2"), ["-1:0 the expression must be a bool, but it is of type int"]);
    assert.deepEqual(problems("object.x"), ["-1:0 the expression must be a bool, but it is of type dyn"]);
  });
  test("unknown name, with a suggestion", () => {
    assert.deepEqual(problems("signd() && trusted_registry()"), [`1:6 unknown name 'signd' (did you mean "signed"?)`]);
    assert.deepEqual(problems("signed() && objct.x == 1"), [`1:13 unknown name 'objct' (did you mean "object"?)`]);
    assert.deepEqual(problems("zzzzzz()"), ["1:7 unknown name 'zzzzzz' (members: signed, trusted_registry)"]);
  });
  test("a member used as a value", () => {
    assert.deepEqual(problems("signed && trusted_registry()"), ["1:1 'signed' is a member: call it, signed()"]);
  });
  test("wrong operand types", () => {
    assert.deepEqual(problems("signed() && 1"), ["1:13 expected type 'bool' but found 'int'"]);
  });
  test("unknown field of the request", () => {
    assert.deepEqual(problems("request.nmae == 'x' && signed() && trusted_registry()"), ["1:8 undefined field 'nmae'"]);
  });
  test("syntax", () => {
    assert.equal(problems("signed() &&").length, 1);
  });
});

describe("odd expressions are warned of", () => {
  test("unused member", () => {
    assert.deepEqual(warnings("signed()"), ["member 'trusted_registry' is never used in the expression"]);
  });
  test("constant result", () => {
    assert.deepEqual(warnings("true || (signed() && trusted_registry())"), [
      "the expression is always true, whatever the request",
    ]);
  });
  test("constant by logic", () => {
    assert.deepEqual(warnings("signed() || trusted_registry() || !signed()"), [
      "the expression is always true, whatever the request",
    ]);
    assert.deepEqual(warnings("trusted_registry() ? signed() && !signed() : false"), [
      "the expression is always false, whatever the request",
    ]);
  });
  test("none for a sound expression", () => {
    assert.deepEqual(warnings("signed() || !trusted_registry(object.spec)"), []);
  });
});
