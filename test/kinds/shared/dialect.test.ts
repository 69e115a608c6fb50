import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DYN, INT, STRING } from "../../../src/cel/types.js";
import { CelError } from "../../../src/cel/values/cel-error.js";
import type { Dialect, Scope } from "../../../src/kinds/shared/dialect.js";
import { Attempt } from "../../../src/kinds/shared/expressions/attempt.js";
import { evaluateGroup } from "../../../src/kinds/shared/expressions/evaluation-group.js";
import { ExpressionCompiler } from "../../../src/kinds/shared/expressions/expression-compiler.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { RequestWorld } from "../../../src/world/request-world.js";
import { worldOf } from "../../../src/world/world.js";

/** A kind with other variables, a function of its own, dearer limits and shorter words. */
const DIALECT: Dialect = {
  environment: {
    flavour: "kubernetes",
    variables: [{ name: "subject", type: DYN }],
    functions: [
      {
        name: "shout",
        overloads: [
          {
            id: "shout_string",
            member: false,
            params: [STRING],
            result: STRING,
            call: (_, text) => String(text).toUpperCase(),
          },
        ],
      },
    ],
  },
  optional: { exceptions: [{ name: "exceptions", type: DYN }] },
  variables: { typeName: "acme.variables", nameOf: (field) => field },
  costs: { expression: 100, evaluation: Number.POSITIVE_INFINITY, conditions: 10 },
  words: {
    notCompiled: (text) => `compilation failed: ${text}`,
    wrongType: (wanted) => `not ${wanted}`,
    failed: (_, error) => `error: ${error}`,
    uncompiled: (error) => `not compiled: ${error}`,
    failedVariable: (_, error) => error,
    uncompiledVariable: (name, error) => `${name}: ${error}`,
    outOfBudget: "too dear",
  },
};
const NOWHERE: Scope = { optional: [], variables: undefined };
const EXCEPTIONS: Scope = { optional: ["exceptions"], variables: undefined };

/** The results of expressions about a subject, with a variable `v`. */
function evaluate(
  sources: readonly string[],
  subject: unknown,
  variable = "subject.n",
  budget = Number.POSITIVE_INFINITY,
) {
  const compiler = new ExpressionCompiler(DIALECT);
  const v = compiler.compile(variable, "any", NOWHERE);
  const scope = { optional: [], variables: new Map([["v", v.type]]) };
  const expressions = sources.map((source) => compiler.compile(source, "any", scope));
  const attempt = new Attempt(DIALECT, new RequestWorld(worldOf([], { authorizer: NO_OPINION, now: () => 0 })));
  const bindings = { subject: subject as never };
  const group = evaluateGroup(
    expressions,
    { attempt, bindings, about: undefined, variables: new Map([["v", v]]), shared: undefined },
    budget,
  );
  return group instanceof CelError
    ? group.message
    : group.results.map((each) => (each instanceof CelError ? each.message : each));
}

describe("a dialect", () => {
  test("says what can be named, by whom, and brings functions", () => {
    const compiler = new ExpressionCompiler(DIALECT);
    assert.equal(compiler.compile("object", "any", NOWHERE).program, undefined);
    assert.equal(compiler.compile("exceptions", "any", NOWHERE).program, undefined);
    assert.ok(compiler.compile("exceptions", "any", EXCEPTIONS).program);
    assert.deepEqual(evaluate(["shout(subject.s)"], { s: "a", n: 1 }), ["A"]);
  });

  test("has words of its own", () => {
    assert.deepEqual(evaluate(["subject.x", "nope", "variables.v"], { n: 1 }, "subject.y").slice(0, 1), [
      "error: no such key: x",
    ]);
    const [, uncompiled, variable] = evaluate(["subject.x", "nope", "variables.v"], { n: 1 }, "subject.y");
    assert.match(String(uncompiled), /^not compiled: compilation failed: ERROR: <input>:1:1: undeclared reference/);
    assert.equal(variable, "error: no such key: y");
    assert.match(String(evaluate(["variables.v"], {}, "nope")[0]), /^error: v: compilation failed: ERROR/);
  });

  test("has limits of its own", () => {
    const list = Array.from({ length: 100 }, () => 1);
    assert.deepEqual(evaluate(["subject.list.all(x, x == 1)"], { list }), [
      "error: operation cancelled: actual cost limit exceeded",
    ]);
    assert.deepEqual(evaluate(["subject.list.size() == 100"], { list }), [true]);
    assert.equal(evaluate(["subject.list.size() == 100"], { list }, "1", 1), "too dear");
  });

  test("types variables as it likes", () => {
    const compiler = new ExpressionCompiler(DIALECT);
    const scope: Scope = { optional: [], variables: new Map([["v", INT]]) };
    assert.equal(compiler.compile("variables.v + 'a'", "any", scope).program, undefined);
    assert.ok(compiler.compile("variables.v + 1", "any", scope).program);
  });

  test("what names nothing private is compiled once for all scopes", () => {
    const compiler = new ExpressionCompiler(DIALECT);
    const one = compiler.compile("subject.n == 1", "bool", NOWHERE);
    const other = compiler.compile("subject.n == 1", "bool", EXCEPTIONS);
    assert.ok(one.shared && one.program !== undefined);
    assert.equal(one.program, other.program);
    assert.equal(compiler.compile("exceptions.n == 1", "bool", EXCEPTIONS).shared, false);
    assert.match(String(compiler.compile("exceptions.n == 1", "bool", NOWHERE).error), /undeclared reference/);
  });
});
