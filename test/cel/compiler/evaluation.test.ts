import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Bindings, createEnvironment, Lazy } from "../../../src/cel/index.js";
import { DYN, INT } from "../../../src/cel/types.js";
import { CelError } from "../../../src/cel/values/cel-error.js";

const environment = createEnvironment({
  flavour: "kubernetes",
  variables: [
    { name: "object", type: DYN },
    { name: "i", type: INT },
  ],
});
const object = { a: { b: [1, 2, { c: "x" }] }, l: [0, 1], big: 9007199254740993n };

function evaluate(source: string, bindings: Bindings = { object, i: 5 }, costLimit?: number) {
  const compiled = environment.compile(source);
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
  return compiled.program.evaluate(bindings, costLimit === undefined ? {} : { costLimit });
}

/** Values and costs that the reference gives for the same expressions (spec kubernetes-cel.md 2, 5.2, 8.1). */
const CASES: readonly (readonly [string, unknown, number])[] = [
  ["1 + 2 * i", 11, 3],
  ["0x1F + 010", 41, 1],
  ["object.a.b[2].c == 'x'", true, 6],
  ["object.zz || i == 5", true, 4],
  ["i in [1, 5]", true, 1],
  ["[1].map(i, .i + i)", [6], 16],
  ["[1, 0].all(x, 1/x > 5)", false, 9],
  ["{'a': {'b': i}}.a.b", 5, 64],
  ["object.?n.orValue('d') == 'd'", true, 2],
];

describe("evaluation", () => {
  for (const [source, value, cost] of CASES) {
    test(source, () => assert.deepEqual(evaluate(source), { result: value, cost }));
  }

  test("an error is a value and keeps its cost", () => {
    assert.deepEqual(evaluate("[0, 1].all(x, 1/x > 0)"), {
      result: new CelError("division by zero", "division-by-zero"),
      cost: 13,
    });
    assert.deepEqual(evaluate("object.a.zz"), { result: new CelError("no such key: zz", "no-such-key"), cost: 3 });
  });

  test("an unbound variable is an error", () => {
    assert.deepEqual(evaluate("i + 1", {}), {
      result: new CelError("no such attribute(s): i", "no-such-attribute"),
      cost: 2,
    });
  });

  test("a lazy binding is asked only when it is used", () => {
    let asked = 0;
    const i = new Lazy(() => {
      asked += 1;
      return 7;
    });
    assert.equal(evaluate("true || i == 7", { i }).result, true);
    assert.equal(asked, 0);
    assert.equal(evaluate("i + 1", { i }).result, 8);
    assert.equal(asked, 1);
  });

  test("exceeding the limit ends the evaluation, whatever could absorb an error", () => {
    const exceeded = new CelError("operation cancelled: actual cost limit exceeded", "cost-limit");
    assert.deepEqual(evaluate("object.l.map(x, x).size() > 0 || true", { object, i: 1 }, 10), {
      result: exceeded,
      cost: 14,
    });
    assert.deepEqual(evaluate("object.a.b", { object, i: 1 }, 2), { result: exceeded, cost: 3 });
  });

  test("the cost at which the limit was exceeded is that of the addition that exceeded it", () => {
    const source = "[1, 2, 3].all(x, has(dyn(object).zz) ? true : object.l.map(y, y).size() == 2)";
    const all = evaluate(source).cost;
    for (let limit = 1; limit < all; limit++) {
      const { result, cost } = evaluate(source, { object, i: 1 }, limit);
      assert.ok(result instanceof CelError, `${limit}`);
      // A list is the largest single addition here.
      assert.ok(cost > limit && cost <= limit + 10, `${limit}: ${cost}`);
    }
    assert.equal(evaluate(source, { object, i: 1 }, all).result, true);
  });

  test("loops over maps reach values whose key cannot be found again", () => {
    assert.equal(evaluate("{double('NaN'): 7}.all(k, v, v == 7)").result, true);
  });

  test("calls with too few arguments fail when they are reached, if nothing has checked them", () => {
    for (const source of ["size()", "'a'.matches()", "upperAscii()", "'a'.unknown(1)"]) {
      const compiled = environment.compile(`true || ${source}`, { check: false });
      assert.ok(compiled.ok);
      assert.equal(compiled.program.evaluate({}).result, true);
      const alone = environment.compile(source, { check: false });
      assert.ok(alone.ok && alone.program.evaluate({}).result instanceof CelError);
    }
  });
});
