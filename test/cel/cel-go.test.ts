import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError, createEnvironment, DYN, type EnvironmentOptions } from "../../src/cel/index.js";

const variables = [{ name: "x", type: DYN }];
const environmentOf = (options: Omit<EnvironmentOptions, "flavour"> = {}) =>
  createEnvironment({ flavour: "cel-go", variables, ...options });
const bare = environmentOf();
const withStrings = environmentOf({ extensions: ["strings"] });

/** The first problem of an expression, or what it comes to. */
function outcome(expression: string, x: unknown = null, environment = withStrings): unknown {
  const compiled = environment.compile(expression);
  if (!compiled.ok) return compiled.text.split("\n")[0]?.replace("ERROR: <input>:", "");
  const { result } = compiled.program.evaluate({ x: x as never });
  return result instanceof CelError ? result.message : result;
}

describe("cel-go's own environment", () => {
  test("has the language's functions and macros, and no library of Kubernetes", () => {
    const macros =
      "[1, 2].all(i, i > 0) && [1].exists(i, i == 1) && [1].exists_one(i, i == 1) && [1].map(i, i > 0, i).filter(i, true) == [1]";
    assert.equal(outcome(`${macros} && has({'a': 1}.a)`), true);
    for (const call of ["isURL('a')", "ip('1.1.1.1')", "quantity('1')", "sets.contains([1], [1])", "[1].isSorted()"])
      assert.match(String(outcome(call)), /undeclared reference/, call);
    for (const call of ["[1].existsOne(i, true)", "[1].all(i, v, true)", "cel.bind(a, 1, true)", "optional.none()"])
      assert.match(String(outcome(call)), /undeclared reference/, call);
  });

  test("has extensions only where they are named, the newest of strings", () => {
    assert.match(String(outcome("'a'.reverse() == 'a'", null, bare)), /undeclared reference to 'reverse'/);
    assert.equal(outcome("'ab'.reverse() == 'ba' && '%.2f'.format([1234.5]) == '1234.50'"), true);
    const math = environmentOf({ extensions: ["math", "bindings"] });
    assert.equal(outcome("cel.bind(a, 2, math.greatest(1, a) == a)", null, math), true);
  });

  test("has no optional values", () => {
    assert.equal(outcome("x.?a"), "1:2: unsupported syntax '.?'");
    assert.equal(outcome("x[?0]"), "1:2: unsupported syntax '[?'");
    assert.equal(outcome("null[0]"), "1:5: found no matching overload for '_[_]' applied to '(null, int)'");
    assert.match(String(outcome("type(x) == optional_type")), /undeclared reference to 'optional_type'/);
  });

  test("compares what is of one type, and lets literals have many", () => {
    assert.match(String(outcome("1 == 1.0")), /no matching overload for '_==_'/);
    assert.match(String(outcome("1 < 1.0")), /no matching overload for '_<_'/);
    assert.equal(outcome("dyn(1) == 1.0"), true);
    assert.equal(outcome("[1, 'a'].size() == 2 && {'a': 1, 2: 'b'}.size() == 2"), true);
  });

  test("looks into format calls, and into no other literal", () => {
    assert.match(String(outcome("'%d'.format(['a'])")), /decimal clause can only be used on ints, uints, and doubles/);
    assert.match(String(outcome("'%d'.format([1, 2])")), /too many arguments/);
    assert.match(String(outcome("'a'.matches('[')")), /^error parsing regexp/);
    assert.match(String(outcome("duration('x') == duration('1s')")), /type conversion error/);
    assert.equal(outcome("true || 'a'.matches('[') || int('x') == 1"), true);
  });

  test("reads timestamps to the letter, and orders no NaN", () => {
    assert.equal(
      outcome("timestamp('2024-02-29T1:00:00Z') > timestamp(0)"),
      'invalid RFC 3339 timestamp "2024-02-29T1:00:00Z"',
    );
    assert.equal(outcome("timestamp('2024-02-29T12:00:00Z') > timestamp(0)"), true);
    assert.equal(outcome("0.0 / 0.0 < 1.0 || dyn(0.0 / 0.0) < 'a'"), false);
  });

  test("evaluates nothing behind an operand that failed", () => {
    const cost = (expression: string) => {
      const compiled = withStrings.compile(expression);
      return compiled.ok ? compiled.program.evaluate({ x: "text" }).cost : undefined;
    };
    assert.equal(cost("1 / 0 == x.size()"), 1);
    assert.equal(cost("x.size() == 1 / 0"), 4);
  });

  test("charges for constant lists and maps wherever they are reached", () => {
    const cost = (expression: string) => {
      const compiled = withStrings.compile(expression);
      return compiled.ok ? compiled.program.evaluate({ x: "a" }).cost : undefined;
    };
    assert.equal(cost("[1, 2] == [1, 2]"), 21);
    assert.equal(cost("{'a': [1]} == {}"), 70);
    assert.equal(cost("x in ['a', 'b']"), 13);
    assert.equal(cost("[1, 2].map(i, 1) == []"), 10 + 10 + 2 * 12 + 1 + 10 + 0);
  });
});
