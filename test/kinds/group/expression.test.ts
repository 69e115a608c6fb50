import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Value } from "../../../src/cel/index.js";
import { libraries } from "../../../src/cel/libraries.js";
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
  test("too large to be compiled", () => {
    const [problem, ...others] = problems(Array.from({ length: 4_000 }, () => "object.all(x, x)").join(" && "));
    assert.match(problem ?? "", /^-1:0 the expression is too large: /);
    assert.deepEqual(others, []);
  });
});

test("members that no expression can call do no harm, and the others are asked", () => {
  const compiled = compileGroupExpression("c()", ["a-b", "c", "", "1", "if"]);
  assert.ok("program" in compiled, JSON.stringify(compiled));
  assert.equal(compiled.program.evaluate({}, { state: { ask: (name: string) => name === "c" } }).result, true);
});

describe("a member named like a function of the language", () => {
  const names = libraries("kubernetes").flatMap(({ functions }) =>
    functions.filter(({ overloads }) => overloads.some(({ member }) => !member)).map(({ name }) => name),
  );
  // Operators have other names, and `in` is one of them that looks like none.
  const callable = [...new Set(names)].filter((name) => /^[a-z][\w.]*$/i.test(name) && name !== "in");

  function asked(source: string, name: string, values: readonly Value[]): unknown[] {
    const compiled = compileGroupExpression(source, [name]);
    assert.ok("program" in compiled, `${source}: ${JSON.stringify(compiled)}`);
    const questions: unknown[] = [];
    const state = { ask: (...question: unknown[]) => questions.push(question) === 0 };
    for (const x of values) {
      const { result } = compiled.program.evaluate({ object: { x }, oldObject: null, request: null }, { state });
      assert.equal(result, false, `${source} of ${String(x)}`);
    }
    return questions;
  }

  test("is asked, about the request and about any value", () => {
    assert.ok(callable.length > 20 && callable.includes("isIP"), callable.join());
    const values = [true, "true", "1.2.3.4", "1", 1, [1], { a: 1 }, null];
    for (const name of callable) {
      assert.deepEqual(asked(`${name}()`, name, [null]), [[name, undefined]]);
      const about = values.map((value) => [name, value]);
      assert.deepEqual(asked(`${name}(object.x)`, name, values), about);
    }
  });

  test("is asked about constants, too", () => {
    for (const source of ["bool('true')", "bool(true)", "isIP('1.2.3.4')", "string('a') == true || string(1)"]) {
      const compiled = compileGroupExpression(source, ["bool", "isIP", "string"]);
      assert.ok("program" in compiled, source);
      assert.equal(compiled.program.evaluate({ object: {} }, { state: { ask: () => false } }).result, false, source);
    }
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
  test("constant by conditions that look at nothing", () => {
    for (const [expression, value] of [
      ["signed() && trusted_registry() && 'q' in []", false],
      ["(signed() && trusted_registry()) || size('tolu') == 4", true],
      ["signed() && trusted_registry() && [1, 2].all(x, x > 1)", false],
      ["type(1) == int ? true : signed() && trusted_registry()", true],
      ["bool('true') || (signed() && trusted_registry())", true],
    ] as const) {
      assert.deepEqual(warnings(expression), [`the expression is always ${value}, whatever the request`], expression);
    }
    assert.deepEqual(warnings("signed() && trusted_registry() && [1, 2].all(x, x > 0)"), []);
  });
  test("constant by logic, with as many conditions as are tried and no more", () => {
    const expression = (conditions: number) =>
      [
        "signed()",
        "!signed()",
        "trusted_registry()",
        ...Array.from({ length: conditions - 2 }, (_, i) => `object.a == ${i}`),
      ].join(" || ");
    assert.deepEqual(warnings(expression(12)), ["the expression is always true, whatever the request"]);
    assert.deepEqual(warnings(expression(13)), []);
  });
  test("none for a sound expression", () => {
    for (const sound of [
      "signed() || !trusted_registry(object.spec)",
      "signed() ? trusted_registry() : true",
      "signed() ? false : trusted_registry()",
      "signed() && trusted_registry()",
    ])
      assert.deepEqual(warnings(sound), [], sound);
  });
});
