import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  BOOL,
  CelError,
  createEnvironment,
  DYN,
  type EnvironmentOptions,
  fn,
  INT,
  listType,
  method,
  ObjectValue,
  Optional,
  type Overload,
  overload,
  type Result,
  STRING,
  type Value,
  Waiting,
  type WorkRule,
} from "../../src/cel/index.js";

const kubernetes = createEnvironment({ flavour: "kubernetes", variables: [{ name: "object", type: DYN }] });

function evaluate(
  functions: EnvironmentOptions["functions"],
  source: string,
  options: { readonly state?: unknown; readonly check?: boolean } = {},
): { readonly value: unknown; readonly cost: number } {
  const compiled = kubernetes.extend({ functions: functions ?? [] }).compile(source, { check: options.check ?? true });
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
  const { result, cost } = compiled.program.evaluate({ object: { a: 1, s: "x" } }, { state: options.state });
  return { value: result instanceof CelError ? `E ${result.message}` : result, cost };
}

describe("functions of one's own", () => {
  test("stand beside those of the language, and are chosen by their arguments", () => {
    const size = fn(
      "size",
      overload("size_bool", [BOOL], INT, (value: boolean) => (value ? 1 : 0)),
    );
    assert.equal(evaluate([size], "size(true) + size('abc')").value, 4);
    assert.equal(evaluate([size], "size(dyn(true)) + size(dyn('abc'))").value, 4);
    assert.equal(evaluate([size], "size(dyn(null))").value, "E no such overload: size");
    const contains = fn(
      "contains",
      method("contains_bool", [BOOL, BOOL], BOOL, (a: boolean, b: boolean) => a === b),
    );
    assert.equal(evaluate([contains], "true.contains(true) && object.s.contains('x')").value, true);
  });

  test("take the place of all of that name when they say so", () => {
    const size = {
      ...fn(
        "size",
        overload("size_string", [STRING], INT, () => 42),
      ),
      replaces: true,
    } as const;
    assert.equal(evaluate([size], "size('abc')").value, 42);
    assert.equal(evaluate([size], "size(object.s)").value, 42);
    const compiled = kubernetes.extend({ functions: [size] }).compile("size([1])");
    assert.equal(compiled.ok ? undefined : compiled.issues[0]?.code, "no-matching-overload");
    // The environment that was extended is as it was.
    assert.equal(evaluate([], "size('abc') + size([1])").value, 4);
  });

  test("neither fast forms nor costs of the language's functions hold for what takes their place", () => {
    const startsWith = {
      ...fn(
        "startsWith",
        method("starts_with_string", [STRING, STRING], BOOL, () => false),
      ),
    };
    const replaced = { ...startsWith, replaces: true } as const;
    assert.deepEqual(evaluate([replaced], "object.s.startsWith('x')"), { value: false, cost: 3 });
    const matches = {
      ...fn(
        "matches",
        method("matches_string", [STRING, STRING], BOOL, () => true),
      ),
      replaces: true,
    };
    assert.deepEqual(evaluate([{ ...matches, replaces: true }], "'abc'.matches('x')"), { value: true, cost: 1 });
    const check = {
      ...fn(
        "check",
        overload("check_it", [], BOOL, () => true),
      ),
      replaces: true,
    } as const;
    assert.deepEqual(evaluate([check], "check()"), { value: true, cost: 1 });
    const dear = fn("dear", { ...overload("dear", [], BOOL, () => true), cost: 500 });
    assert.deepEqual(evaluate([dear], "dear() && dear()"), { value: true, cost: 1000 });
  });

  test("leave the language's functions of their name what they cost", () => {
    const long = "x".repeat(1_000);
    const equal = method("contains_bool", [BOOL, BOOL], BOOL, (a: boolean, b: boolean) => a === b);
    const own = fn("contains", { ...equal, cost: 7 });
    const cost = (functions: EnvironmentOptions["functions"], source: string): number => {
      const compiled = kubernetes.extend({ functions: functions ?? [] }).compile(source);
      assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
      return compiled.program.evaluate({ object: { long, yes: true, list: [3, 1, 2] } }).cost;
    };
    const contains = "object.long.contains(object.long)";
    assert.ok(cost([], contains) > 10_000);
    for (const source of [contains, "object.long.contains(object.zz)", "object.list.contains(object.list)"]) {
      assert.equal(cost([own], source), cost([], source), source);
    }
    // Two variables, two selections of them, and the call.
    assert.equal(cost([own], "object.yes.contains(object.yes)"), 4 + 7);
    assert.equal(cost([own], "true.contains(object.yes)"), 2 + 7);
    const distinct = fn("distinct", { ...method("distinct_text", [STRING], STRING, (text: string) => text), cost: 5 });
    assert.equal(cost([distinct], "object.list.distinct()"), cost([], "object.list.distinct()"));
    assert.equal(cost([distinct], "object.long.distinct()"), 2 + 5);
    assert.equal(evaluate([distinct], "object.s.distinct()").value, "x");
    const faulty = evaluate([], "object.distinct()");
    assert.deepEqual(evaluate([distinct], "object.distinct()"), faulty);
    const size = fn("size", { ...overload("size_bool", [BOOL], INT, () => 1), cost: 9 });
    assert.equal(cost([size], "size(object.yes)"), 2 + 9);
    assert.equal(cost([size], "size(object.long)"), cost([], "size(object.long)"));
  });

  test("read literals in their own way where they take the place of a function that is checked for them", () => {
    const duration = {
      ...fn(
        "duration",
        overload("words", [STRING], STRING, (text: string) => text),
      ),
      replaces: true,
    };
    assert.equal(evaluate([{ ...duration, replaces: true }], "duration('a while')").value, "a while");
    const format = fn(
      "format",
      method("own_format", [STRING, listType(DYN)], STRING, (text: string) => text),
    );
    assert.equal(evaluate([{ ...format, replaces: true }], "'%q %d'.format([1])").value, "%q %d");
  });

  test("get the evaluation's state with `call`, which is made every time", () => {
    const next = fn("next", {
      id: "next",
      member: false,
      params: [INT],
      result: INT,
      call: (state: unknown, step: Value) => ((state as { count: number }).count += Number(step)),
    });
    assert.equal(evaluate([next], "next(1) + next(1)", { state: { count: 10 } }).value, 23);
    assert.equal(evaluate([next], "next(dyn('x'))", { state: { count: 0 } }).value, "E no such overload: next(string)");
    assert.equal(evaluate([next], "next(object.zz)", { state: { count: 0 } }).value, "E no such key: zz");
  });

  test("with `call` and `implementation` may share a name", () => {
    const call = (): Result => "state";
    const mixed = fn(
      "mixed",
      overload("mixed_int", [INT], STRING, () => "pure"),
      { id: "mixed_string", member: false, params: [STRING], result: STRING, call },
    );
    assert.equal(
      evaluate([mixed], "mixed(1) + mixed('') + mixed(dyn(1)) + mixed(dyn(''))").value,
      "purestatepurestate",
    );
    assert.equal(evaluate([mixed], "mixed(object.s)", { check: false }).value, "state");
  });

  test("end the evaluation where their answer is not there yet", () => {
    const later = fn("later", { id: "later", member: false, params: [], result: BOOL, call: () => Waiting.INSTANCE });
    assert.equal(evaluate([later], "later() || true").value, Waiting.INSTANCE);
    assert.equal(evaluate([later], "true || later()").value, true);
  });

  test("that answer with a promise are an error when nobody waits, and do no harm when it rejects", async () => {
    const call = async (): Promise<Result> => {
      throw new Error("boom");
    };
    const later = fn("later", { id: "later", member: false, params: [], result: BOOL, call });
    const said = "E the answer of 'later' is a promise, which only evaluateAsync waits for";
    assert.equal(evaluate([later], "later()").value, said);
    await new Promise((resolve) => setImmediate(resolve));
  });

  test("that throw, whatever they throw, are errors", () => {
    const thrown: unknown[] = [Object.create(null), Symbol("s"), undefined, { toString: 1 }, new Error("boom")];
    for (const each of thrown) {
      const throwing = (): Result => {
        throw each;
      };
      const pure = fn("f", overload("f", [DYN], DYN, throwing));
      const stateful = fn("g", { id: "g", member: false, params: [], result: DYN, call: throwing });
      assert.match(String(evaluate([pure], "f(object)").value), /^E internal error: /);
      assert.match(String(evaluate([pure], "f(1)").value), /^E internal error: /);
      assert.match(String(evaluate([stateful], "g()").value), /^E internal error: /);
    }
  });

  test("cannot have the name of an operator", () => {
    for (const name of ["_+_", "_&&_", "@in", "_[_]", "", "a b", "a..b"]) {
      assert.throws(
        () =>
          kubernetes.extend({
            functions: [
              fn(
                name,
                overload("x", [], BOOL, () => true),
              ),
            ],
          }),
        /no function can/,
      );
    }
    // Nor is there another way to declare one.
    const libraries = [
      {
        name: "own",
        functions: [
          fn(
            "_+_",
            overload("add_bools", [BOOL, BOOL], INT, () => 1),
          ),
        ],
      },
    ];
    const options = { flavour: "kubernetes", libraries } as const;
    assert.equal(createEnvironment(options).compile("true + true").ok, false);
  });
});

describe("the lazy forms of optionals", () => {
  test("evaluate their argument only where it is needed", () => {
    assert.equal(evaluate([], "object.?a.orValue(1 / 0)").value, 1);
    assert.equal(evaluate([], "optional.none().or(optional.of(2)).value()").value, 2);
    assert.equal(evaluate([], "object.?a.orValue(1 / 0)", { check: false }).value, 1);
    assert.equal(evaluate([], "object.a.orValue(1)").value, "E no such overload");
  });

  test("belong to the overload: one that takes its place is called as any other", () => {
    const strict = {
      ...fn(
        "orValue",
        method("strict_orValue", [DYN, DYN], DYN, (value: Value, other: Value) =>
          value instanceof Optional ? (value.value ?? other) : value,
        ),
      ),
      replaces: true,
    } as const;
    assert.equal(evaluate([strict], "object.?a.orValue(1 / 0)").value, "E division by zero");
    assert.equal(evaluate([strict], "object.?a.orValue(1 / 0)", { check: false }).value, "E division by zero");
    assert.equal(evaluate([strict], "object.a.orValue(2)").value, 1);
    assert.equal(evaluate([strict], "object.?zz.orValue(2)").value, 2);
    assert.equal(evaluate([strict], "optional.none().or(optional.of(1 / 1)).value()").value, 1);
  });

  test("do not hold where another overload may apply", () => {
    const added = fn(
      "orValue",
      method("string_orValue", [STRING, STRING], STRING, (a: string, b: string) => a || b),
    );
    assert.equal(evaluate([added], "''.orValue('x')").value, "x");
    assert.equal(evaluate([added], "dyn('').orValue('x')").value, "x");
    assert.equal(evaluate([added], "dyn(object.?zz).orValue('y')").value, "y");
    assert.equal(evaluate([added], "object.?zz.orValue('y')").value, "y");
    const [lazy] = [method("lazy_or", [DYN, DYN], DYN, () => "implementation")];
    const mixed = {
      ...fn("orValue", ...added.overloads, { ...(lazy as Overload), lazy: "orValue" }),
      replaces: true,
    } as const;
    assert.equal(evaluate([mixed], "dyn('').orValue(dyn('x'))").value, "x");
  });
});

describe("the work of a function of one's own", () => {
  /** How often the clock is looked at while it is called a thousand times with a text of a thousand characters. */
  const looks = (work: WorkRule | undefined): number => {
    const own = overload("own_string", [STRING], BOOL, () => true);
    const functions = [fn("own", work === undefined ? own : { ...own, work })];
    const compiled = kubernetes.extend({ functions }).compile("object.all(x, own(x))");
    assert.ok(compiled.ok);
    let count = 0;
    const now = () => count++ * 0;
    compiled.program.evaluate({ object: Array(1000).fill("x".repeat(1000)) }, { deadline: { at: 1, now } });
    return count;
  };

  test("is what it says, by the sizes of its arguments", () => {
    const usual = looks(undefined);
    assert.ok(looks({ fixed: 100, each: 100, deep: false }) > 10 * usual);
    assert.ok(looks({ fixed: 1, each: 0, deep: false }) < usual);
  });
});

test("an optional field of an object is absent where the object says so, whatever its value", () => {
  class Account extends ObjectValue {
    readonly typeName = "acme.Account";
    get(): string {
      return "";
    }
    has(): boolean {
      return false;
    }
    fields(): Iterable<string> {
      return ["name"];
    }
  }
  const bindings = { object: new Account() };
  const value = (source: string): unknown => {
    const compiled = kubernetes.compile(source);
    return compiled.ok ? compiled.program.evaluate(bindings).result : compiled.text;
  };
  assert.equal(value("object.?name.hasValue()"), false);
  assert.equal(value("object[?'name'].hasValue()"), false);
  assert.equal(value("object.name == ''"), true);
});

test("what cannot be built for its constants says which type it would have had", () => {
  const compiled = kubernetes.compile('int("x")');
  assert.ok(!compiled.ok);
  assert.deepEqual([compiled.phase, compiled.type], ["program", INT]);
});
