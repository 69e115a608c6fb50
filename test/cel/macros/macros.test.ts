import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { unparse } from "../../../src/cel/unparse/unparse.js";
import type { KubernetesVersion } from "../../../src/data/kubernetes-version.js";
import { checked, issuesOf, parsed } from "../support/front-end.js";
import { vectorDeclarations } from "../support/vectors.js";

const expansion = (expr: string): string => unparse(parsed(expr).expr);

describe("expansion of macros", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["has(a.b)", "has(a.b)"],
    ["r.all(x, p)", "@loop(x, @result, r, true, @not_strictly_false(@result), @result && p, @result)"],
    ["r.exists(x, p)", "@loop(x, @result, r, false, @not_strictly_false(!@result), @result || p, @result)"],
    ["r.exists_one(x, p)", "@loop(x, @result, r, 0, true, p ? @result + 1 : @result, @result == 1)"],
    ["r.map(x, t)", "@loop(x, @result, r, [], true, @result + [t], @result)"],
    ["r.map(x, p, t)", "@loop(x, @result, r, [], true, p ? @result + [t] : @result, @result)"],
    ["r.filter(x, p)", "@loop(x, @result, r, [], true, p ? @result + [x] : @result, @result)"],
    ["r.all(i, v, p)", "@loop(i, v, @result, r, true, @not_strictly_false(@result), @result && p, @result)"],
    ["r.transformList(i, v, p, t)", "@loop(i, v, @result, r, [], true, p ? @result + [t] : @result, @result)"],
    ["r.transformMap(i, v, t)", "@loop(i, v, @result, r, {}, true, cel.@mapInsert(@result, i, t), @result)"],
    ["r.transformMapEntry(i, v, m)", "@loop(i, v, @result, r, {}, true, cel.@mapInsert(@result, m), @result)"],
    ["o.optFlatMap(x, t)", "o.hasValue() ? @loop(#unused, x, [], o.value(), false, x, t) : optional.none()"],
    ["o.optMap(x, t)", "o.hasValue() ? optional.of(@loop(#unused, x, [], o.value(), false, x, t)) : optional.none()"],
  ];
  for (const [expr, expected] of rows) {
    test(expr, () => {
      assert.equal(expansion(expr), expected);
    });
  }
});

describe("malformed macro calls", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["has(object['a'])", "1:11 invalid argument to has() macro"],
    ["ls.all(1, true)", "1:8 argument must be a simple name"],
    ["ls.map(1, true)", "1:8 argument is not an identifier"],
    ["ls.filter(a.b, true)", "1:12 argument is not an identifier"],
    ["ls.map(__result__, 1)", "1:8 iteration variable overwrites accumulator variable"],
    ["ls.all(i, i, true)", "1:11 duplicate variable name: i"],
    ["oi.optMap(1, 1)", "1:11 optMap() variable name must be a simple identifier"],
    ["oi.optFlatMap(1, 1)", "1:15 optFlatMap() variable name must be a simple identifier"],
    [
      "'a'.sortBy(x, x)",
      "1:1 sortBy can only be applied to a list, identifier, comprehension, call or select expression",
    ],
  ];
  for (const [expr, issue] of rows) {
    test(expr, () => {
      assert.deepEqual(issuesOf(expr), [issue]);
    });
  }
});

describe("macros by environment", () => {
  const kinds = (expr: string, version: KubernetesVersion): boolean =>
    !("issues" in checked(expr, vectorDeclarations("kubernetes", version)));

  test("appear with their Kubernetes version", () => {
    assert.equal(kinds("li.all(i, v, v > i)", "1.31"), false);
    assert.equal(kinds("li.all(i, v, v > i)", "1.32"), true);
    assert.equal(kinds("oi.optMap(v, v)", "1.28"), true);
    assert.equal(kinds("li.sortBy(v, -v)", "1.33"), false);
    assert.equal(kinds("li.sortBy(v, -v)", "1.34"), true);
  });

  test("cel.bind, existsOne of one variable and math.greatest are not in Kubernetes", () => {
    for (const expr of ["cel.bind(v, 1, v) == 1", "li.existsOne(v, v == 1)", "math.greatest(1, 2, 3) == 3"]) {
      assert.notEqual(issuesOf(expr).length, 0, expr);
      assert.deepEqual(issuesOf(expr, vectorDeclarations("standard")), [], expr);
    }
  });

  test("math.greatest and math.least check what they see", () => {
    const standard = vectorDeclarations("standard");
    assert.deepEqual(issuesOf("math.greatest()", standard), ["1:1 math.greatest() requires at least one argument"]);
    assert.deepEqual(issuesOf("math.least('a')", standard), ["1:12 math.least() invalid single argument value"]);
    assert.deepEqual(issuesOf("math.least(1, 'a')", standard), [
      "1:15 math.least() simple literal arguments must be numeric",
    ]);
  });
});
