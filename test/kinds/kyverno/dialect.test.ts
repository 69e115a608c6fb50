import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ANY, BOOL, createEnvironment, fn, mapType, overload, STRING } from "../../../src/cel/index.js";
import { createCompiler, createDialect, SCOPE_WORDS } from "../../../src/kinds/kyverno/dialect.js";
import { evaluated, resultOf } from "./evaluated.js";

const firstLine = (outcome: ReturnType<typeof evaluated>): string | undefined =>
  "refused" in outcome ? outcome.refused.split("\n")[0] : undefined;

describe("orValue", () => {
  test("gives the value of an optional, its other side for none, and anything else itself", () => {
    assert.equal(resultOf('optional.of("a").orValue("b")'), "a");
    assert.equal(resultOf('optional.none().orValue("b")'), "b");
    assert.deepEqual(resultOf("object.spec.containers.orValue([])"), [{ name: "c", image: "nginx:1.27" }]);
    assert.equal(resultOf("object.spec.nothing.orValue(1)"), null);
  });

  test("is an error where either side is one", () => {
    assert.equal(resultOf("object.spec.volumes.orValue([])"), "error: no such key: volumes");
    assert.equal(resultOf("optional.of(1).orValue(1 / 0)"), "error: division by zero");
  });

  test("is dyn, so that it is no validation on its own", () => {
    const outcome = evaluated("object.spec.?hostPID.orValue(false)", { wanted: "bool" });
    assert.deepEqual(outcome, { refused: "output is expected to be of type bool" });
    assert.equal(resultOf("!(object.spec.?hostPID.orValue(false))", { wanted: "bool" }), true);
  });
});

describe("an expression that does not compile", () => {
  for (const [expression, said] of [
    ["request.uid", "ERROR: <input>:1:8: undefined field 'uid'"],
    ["request.roles", "ERROR: <input>:1:8: undefined field 'roles'"],
    ['{"a": 1, "b": "x"}', "ERROR: <input>:1:15: expected type 'int' but found 'string'"],
    ["[object.x, 1]", "ERROR: <input>:1:12: expected type 'dyn' but found 'int'"],
    ["images.containers", "ERROR: <input>:1:1: undeclared reference to 'images' (in container '')"],
    ["params.x", "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')"],
    ['authorizer.group("")', "ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')"],
    ["variables.a", "ERROR: <input>:1:10: undefined field 'a'"],
    ['int("x") == 1', "type conversion error from 'string' to 'int'"],
  ] as const) {
    test(`is refused in the reference's bare words: ${expression}`, () => {
      assert.equal(firstLine(evaluated(expression)), said);
    });
  }

  test("for its type and for its constants is refused for its type", () => {
    assert.deepEqual(evaluated('int("x")', { wanted: "bool" }), { refused: "output is expected to be of type bool" });
    assert.deepEqual(evaluated("1", { wanted: "string" }), { refused: "output is expected to be of type string" });
    const refused = "output is expected to be either of type string or null_type";
    assert.deepEqual(evaluated("1", { wanted: "string-or-null" }), { refused });
  });
});

test("what a request has not is an empty map, and its fields are errors", () => {
  assert.equal(resultOf("oldObject == null"), false);
  assert.equal(resultOf("oldObject.metadata.name"), "error: no such key: metadata");
  const bindings = { request: {}, namespaceObject: null };
  assert.equal(resultOf('request.namespace == ""', { bindings }), "error: no such key: namespace");
  assert.equal(resultOf("namespaceObject.metadata.name", { bindings }), "error: no such key: metadata");
  assert.equal(resultOf("has(namespaceObject.metadata)", { bindings }), false);
});

test("whole numbers of requests are ints, and those of the command line no operand of %", () => {
  const of = (replicas: unknown) =>
    resultOf("object.replicas % 2 == 1", { bindings: { object: { replicas } as never } });
  assert.equal(of(3), true);
  assert.equal(of(Object(3)), "error: no such overload: _%_");
});

test("a map of any is no null, and its members no range of a macro", () => {
  const lookup = fn(
    "lookup",
    overload("lookup", [], mapType(STRING, ANY), () => ({ items: [1] })),
  );
  const environment = createEnvironment(createDialect(false).environment).extend({ functions: [lookup] });
  const refusal = (source: string) => {
    const compiled = environment.compile(source);
    return compiled.ok ? undefined : compiled.issues[0]?.message;
  };
  assert.match(refusal("lookup() == null") ?? "", /^found no matching overload for '_==_'/);
  assert.equal(refusal("lookup().items == null"), undefined);
  assert.equal(refusal("dyn(lookup()) == null"), undefined);
  const range = "expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)";
  assert.equal(refusal("lookup().items.exists(x, true)"), range);
  assert.equal(refusal("dyn(lookup().items).exists(x, true)"), undefined);
  assert.equal(refusal("lookup().items.orValue([]).exists(x, true)"), undefined);
  assert.equal(refusal("lookup().spec.containers.all(x, true)"), undefined);
});

test("a variable that is an object of a cluster is a map, and never null", () => {
  const type = mapType(STRING, ANY);
  const scope = { optional: SCOPE_WORDS, variables: new Map([["cm", type]]) };
  const compiler = createCompiler(false);
  assert.match(compiler.compile("variables.cm == null", "bool", scope).error ?? "", /no matching overload for '_==_'/);
  assert.equal(compiler.compile("variables.cm.a == null", "bool", scope).error, undefined);
});

test("what depends on the policy's exceptions or variables is not shared with other policies", () => {
  const compiler = createCompiler(false);
  const scope = { optional: SCOPE_WORDS, variables: new Map([["v", BOOL]]) };
  const shared = (source: string) => compiler.compile(source, "any", scope).shared;
  assert.equal(shared('"a" in exceptions.allowedImages'), false);
  assert.equal(shared("variables.v"), false);
  assert.equal(shared("object.metadata.name"), true);
  assert.equal(shared('json.unmarshal("1")'), true);
});

test("an expression may cost a million, and a policy any number of them", () => {
  const { costs, variables } = createDialect(true);
  assert.deepEqual(costs, { expression: 1_000_000, evaluation: Infinity, conditions: Infinity });
  assert.equal(variables.nameOf("a__dot__b"), "a__dot__b");
  const range = "lists.range(1200).all(x, lists.range(1200).all(y, y >= 0))";
  assert.equal(resultOf(range), "error: operation cancelled: actual cost limit exceeded");
});
