import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CheckedExpr } from "../../../src/cel/checked.js";
import { formatType, INT, objectType, STRING } from "../../../src/cel/types.js";
import { unparse } from "../../../src/cel/unparse/unparse.js";
import { checked, issuesOf } from "../support/front-end.js";
import { vectorDeclarations } from "../support/vectors.js";

function ok(expr: string, declarations = vectorDeclarations()): CheckedExpr {
  const result = checked(expr, declarations);
  assert.ok(!("issues" in result), "issues" in result ? result.text : "");
  return result;
}

const typeOf = (expr: string): string => formatType(ok(expr).type);

describe("assignability", () => {
  test("null goes where timestamps, durations, wrappers, opaque and object types go, and nowhere else", () => {
    for (const expr of ["ts == null", "dur == null", "request == null", "quantity('1') == null", "oi == null"]) {
      assert.deepEqual(issuesOf(expr), [], expr);
    }
    assert.deepEqual(issuesOf("s == null"), ["1:3 found no matching overload for '_==_' applied to '(string, null)'"]);
    assert.deepEqual(issuesOf("ls == null"), [
      "1:4 found no matching overload for '_==_' applied to '(list(string), null)'",
    ]);
    assert.equal(typeOf("google.protobuf.Int32Value{value: 1} == null"), "bool");
  });

  test("later overloads see what earlier ones bound", () => {
    assert.equal(typeOf("[].sum()"), "int");
    assert.equal(typeOf("[[], [1]]"), "list(list(int))");
    assert.equal(typeOf("{}"), "map(dyn, dyn)");
    assert.equal(typeOf("optional.none()"), "optional_type(dyn)");
    assert.equal(typeOf("true ? [] : ['a']"), "list(string)");
  });
});

describe("names", () => {
  test("comprehension variables shadow variables, types and namespaces used as values", () => {
    assert.equal(typeOf("li.map(s, s + 1)"), "list(int)");
    assert.equal(typeOf("li.map(int, int + 1)"), "list(int)");
    assert.equal(typeOf("['x'].map(optional, optional.none())"), "list(optional_type(dyn))");
    assert.equal(typeOf("[1].map(i, .i + i)"), "list(int)");
  });

  test("the longest dotted variable wins, and is one ident", () => {
    const { expr } = ok("authorizer.requestResource.check('get').allowed()");
    assert.equal(unparse(expr), '.authorizer.requestResource.check("get").allowed()');
    assert.equal(formatType(ok("authorizer.requestResource").type), "kubernetes.authorization.ResourceCheck");
  });

  test("namespaced functions are free calls of the full name", () => {
    const { expr, overloads } = ok("optional.of(1)");
    assert.ok(expr.kind === "call" && expr.target === undefined);
    assert.equal(expr.function, "optional.of");
    assert.deepEqual(overloads.get(expr.id), ["optional_of"]);
  });

  test("a container's names are found without it", () => {
    const inContainer = {
      ...vectorDeclarations("standard"),
      container: "a.b",
      variables: new Map([
        ["a.b.x", INT],
        ["a.y", STRING],
        ["x", STRING],
      ]),
    };
    assert.equal(formatType(ok("x", inContainer).type), "int");
    assert.equal(formatType(ok(".x", inContainer).type), "string");
    assert.equal(formatType(ok("y", inContainer).type), "string");
    assert.deepEqual(issuesOf("z", inContainer), ["1:1 undeclared reference to 'z' (in container 'a.b')"]);
  });
});

describe("calls", () => {
  test("list the overloads that fit in order of declaration, and join their results", () => {
    const { expr, overloads } = ok("object.a + 1");
    assert.deepEqual(overloads.get(expr.id), ["add_int64"]);
    const comparison = ok("object.a < object.b");
    assert.ok((overloads.get(expr.id)?.length ?? 0) < (comparison.overloads.get(comparison.expr.id)?.length ?? 0));
    assert.equal(typeOf("object.a + object.b"), "dyn");
  });

  test("report unknown functions after their arguments and target", () => {
    assert.deepEqual(issuesOf("a.f(c)"), [
      "1:1 undeclared reference to 'a' (in container '')",
      "1:4 undeclared reference to 'f' (in container '')",
      "1:5 undeclared reference to 'c' (in container '')",
    ]);
  });

  test("unresolved parameters print as dyn", () => {
    assert.deepEqual(issuesOf("[] + 1"), ["1:4 found no matching overload for '_+_' applied to '(list(dyn), int)'"]);
  });

  test("each operand of logic must be a bool", () => {
    assert.deepEqual(issuesOf("1 && 'a'"), [
      "1:1 expected type 'bool' but found 'int'",
      "1:6 expected type 'bool' but found 'string'",
    ]);
  });
});

describe("older environments", () => {
  const older = vectorDeclarations("kubernetes", "1.27");

  test("order numbers of one type only, until a comprehension comes by", () => {
    assert.deepEqual(issuesOf("i < d", older), ["1:3 found no matching overload for '_<_' applied to '(int, double)'"]);
    assert.deepEqual(issuesOf("i < d"), []);
    assert.deepEqual(issuesOf("[1].all(x, true) && i < d", older), []);
  });

  test("have no optional values before 1.28", () => {
    assert.deepEqual(issuesOf("type(i) == optional_type", older), [
      "1:12 undeclared reference to 'optional_type' (in container '')",
    ]);
  });
});

describe("selection and literals", () => {
  test("objects have their declared fields; reserved words need no escape from 1.31 on", () => {
    assert.deepEqual(issuesOf("request.foo"), ["1:8 undefined field 'foo'"]);
    assert.equal(typeOf("request.namespace"), "string");
    assert.deepEqual(issuesOf("request.namespace", vectorDeclarations("kubernetes", "1.30")), [
      "1:8 undefined field 'namespace'",
    ]);
    assert.deepEqual(issuesOf("s.a"), ["1:2 type 'string' does not support field selection"]);
    assert.deepEqual(issuesOf("authorizer.x"), [
      "1:11 unexpected failed resolution of 'kubernetes.authorization.Authorizer'",
    ]);
    assert.equal(typeOf("object.?a.b"), "optional_type(dyn)");
  });

  test("message literals need a message type and fields of the right type", () => {
    assert.deepEqual(issuesOf("Foo{a: 1}"), ["1:4 undeclared reference to 'Foo' (in container '')"]);
    assert.deepEqual(issuesOf("int{}"), ["1:4 'int' is not a message type"]);
    assert.deepEqual(issuesOf("kubernetes.AdmissionRequest{dryRun: 1}"), [
      "1:35 expected type of field 'dryRun' is 'bool' but provided type is 'int'",
    ]);
    assert.equal(
      typeOf("kubernetes.AdmissionRequest{name: 'n'}"),
      formatType(objectType("kubernetes.AdmissionRequest")),
    );
  });

  test("optional elements must be optional values", () => {
    assert.deepEqual(issuesOf("[?1]"), ["1:3 expected type 'optional_type(int)' but found 'int'"]);
    assert.deepEqual(issuesOf("{?'a': 1}"), [
      "1:6 expected type 'optional_type(int)' but found 'int'".replace("1:6", "1:8"),
    ]);
  });

  test("comprehensions range over lists, maps and dyn", () => {
    assert.deepEqual(issuesOf("i.all(x, true)"), [
      "1:1 expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    ]);
  });
});

describe("validators", () => {
  test("elements of a literal are of one type in Kubernetes only", () => {
    assert.deepEqual(issuesOf("[1, 'a', null]"), ["1:5 expected type 'int' but found 'string'"]);
    assert.deepEqual(issuesOf("{'a': 1, 'b': 'c', 2: 2}"), [
      "1:15 expected type 'int' but found 'string'",
      "1:20 expected type 'string' but found 'int'",
    ]);
    assert.deepEqual(issuesOf("[1, 'a', null]", vectorDeclarations("standard")), []);
    assert.deepEqual(issuesOf("'%s'.format([[1, 'a']])"), []);
  });

  test("literal durations, timestamps and patterns are checked from 1.29 on", () => {
    assert.deepEqual(issuesOf("duration('x')"), ["1:10 invalid duration argument"]);
    assert.deepEqual(issuesOf("timestamp(null)"), ["1:11 invalid timestamp argument"]);
    assert.deepEqual(issuesOf("s.matches('(')"), ["1:11 invalid matches argument"]);
    assert.deepEqual(issuesOf("duration('x')", vectorDeclarations("kubernetes", "1.28")), []);
  });

  test("format calls must fit their arguments", () => {
    assert.deepEqual(issuesOf("'%d'.format([1.5])"), [
      "1:14 error during formatting: decimal clause can only be used on integers, was given double",
    ]);
    assert.deepEqual(issuesOf("'%s %s'.format(['a'])"), ["1:15 index 1 out of range"]);
    assert.deepEqual(issuesOf("'%'.format(['a'])"), ["1:11 unexpected end of string"]);
    assert.deepEqual(issuesOf("'%q'.format(['a'])"), [
      '1:12 could not parse formatting clause: unrecognized formatting clause "q"',
    ]);
  });
});
