import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Bindings, CelError, createEnvironment, DYN, INT } from "../../src/cel/index.js";

const NAMES = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];
const environment = createEnvironment({
  flavour: "kubernetes",
  variables: ["object", "i", ...NAMES].map((name) => ({ name, type: name === "i" ? INT : DYN })),
});

const compile = (source: string) => {
  const compiled = environment.compile(source);
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
  return compiled.program;
};

function codeOf(source: string, bindings: Bindings = { object: { a: [1] }, i: 1 }): string {
  const { result } = compile(source).evaluate(bindings);
  return result instanceof CelError ? result.code : "no error";
}

describe("errors of evaluation", () => {
  test("are told apart by their code", () => {
    const codes = {
      "object.zz": "no-such-key",
      "object.a[3]": "index-out-of-bounds",
      "object + 1": "no-such-overload",
      "size(dyn(1))": "no-such-overload",
      "i / 0": "division-by-zero",
      "i % 0": "division-by-zero",
      "i + 9223372036854775807": "overflow",
      "int(string(object.a[0]) + 'x')": "conversion",
      "object.a.min() == 1 && [0].filter(x, x > 1).min() == 1": "other",
    };
    for (const [source, code] of Object.entries(codes)) assert.equal(codeOf(source), code, source);
    assert.equal(codeOf("i == 1", {}), "no-such-attribute");
    const { result } = compile("object.a.all(x, x > 0)").evaluate({ object: { a: [1] } }, { costLimit: 1 });
    assert.equal((result as CelError).code, "cost-limit");
  });

  test("a variable that is not bound is missing, whatever every JavaScript object answers to", () => {
    for (const name of NAMES) {
      assert.equal(codeOf(`${name} == 1`, {}), "no-such-attribute", name);
      assert.equal(codeOf(`${name} == 1`, Object.defineProperty({}, name, { value: 1 })), "no error", name);
      assert.equal(codeOf(`${name} == 1`, Object.assign(Object.create(null), { i: 1 })), "no-such-attribute", name);
    }
  });

  test("so it is for every name of Object.prototype, for bindings of any class, and in every position", () => {
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      const own = createEnvironment({ flavour: "kubernetes", variables: [{ name, type: DYN }] });
      for (const source of [name, `${name}.a`, `has(${name}.a)`, `type(${name})`, `[1].all(x, ${name} == x)`]) {
        const compiled = own.compile(source);
        assert.ok(compiled.ok, source);
        for (const bindings of [{}, Object.create(null) as Bindings, new (class {})() as Bindings]) {
          const { result } = compiled.program.evaluate(bindings);
          assert.equal(result instanceof CelError && result.code, "no-such-attribute", source);
        }
      }
    }
  });

  test("come from a part of the expression, found when asked for", () => {
    const place = (source: string, bindings: Bindings = { object: { a: [1, 0], s: "x" }, i: 1 }) => {
      const at = compile(source).locate(bindings);
      return at === undefined ? undefined : `${at.line}:${at.column} ${at.text}`;
    };
    assert.equal(place("i > 0 && object.s.b.c == 1"), "1:20 object.s.b.c");
    assert.equal(place("i > 0 &&\n  (1 / (i - 1)) > 0"), "2:6 1 / (i - 1)");
    assert.equal(place("object.a.all(x, 6 / x > 0)"), "1:19 6 / x");
    assert.equal(place("[int(object.s)].size() == 1"), "1:5 int(object.s)");
    assert.equal(place("object.s ? 1 : 2"), "1:10 object.s ? 1 : 2");
    assert.equal(place("object.zz == 1 || i == 1"), undefined);
    assert.equal(place("i == 1", {}), "1:1 i");
    const id = compile("object.zz").locate({ object: {} })?.id;
    assert.equal(id, compile("object.zz").parsed.expr.id);
    assert.equal(compile("object.a.all(x, x > 0)").locate({ object: { a: [1] } }, { costLimit: 1 }), undefined);
  });
});

describe("problems of compiling", () => {
  const issues = (source: string) => {
    const compiled = environment.compile(source);
    return compiled.ok ? [] : compiled.issues.map(({ code, name }) => (name === undefined ? code : `${code} ${name}`));
  };

  test("have a code, and the name they are about", () => {
    assert.deepEqual(issues("1 +"), ["syntax"]);
    assert.deepEqual(issues("nope == 1 || .f(1)"), ["undeclared-reference nope", "undeclared-reference .f"]);
    assert.deepEqual(issues("i.startsWith('x')"), ["no-matching-overload startsWith"]);
    assert.deepEqual(issues("i && true"), ["type-mismatch"]);
    assert.deepEqual(issues("[1, 'a']"), ["type-mismatch"]);
    assert.deepEqual(issues("i.x"), ["no-field-selection"]);
    assert.deepEqual(issues("i.all(x, true)"), ["not-iterable"]);
    assert.deepEqual(issues("duration('x')"), ["invalid-argument"]);
    assert.deepEqual(issues("'%d'.format(['x'])"), ["invalid-argument"]);
  });

  test("have the id of their part", () => {
    const compiled = environment.compile("i == 1 && nope");
    const id = compiled.ok ? undefined : compiled.issues[0]?.id;
    const whole = compile("i == 1 && i == 2").parsed.expr.id;
    assert.ok(id !== undefined && id !== whole);
  });
});

test("a list of nothing but NaN contains nothing", () => {
  const inList = (element: string, list: string) =>
    compile(`${element} in ${list}`).evaluate({ object: 1, i: 1 }).result;
  assert.equal(inList("dyn(double('NaN'))", "[double('NaN')]"), false);
  assert.equal(inList("object", "[double('NaN'), double('NaN')]"), false);
  assert.ok(inList("dyn(i / 0)", "[double('NaN')]") instanceof CelError);
});
