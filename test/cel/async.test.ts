import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  BOOL,
  CelError,
  createEnvironment,
  DYN,
  type FunctionDeclaration,
  Lazy,
  Questions,
  type Result,
  STRING,
  type Value,
  type Waiting,
} from "../../src/cel/index.js";

const pause = (ms = 1): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Functions that note when they are called: `fetch(x)` answers x later, `now(x)` at once, `fail()` rejects, `never()` does not answer. */
function world() {
  const log: string[] = [];
  const declare = (
    name: string,
    params: FunctionDeclaration["overloads"][number]["params"],
    call: FunctionDeclaration["overloads"][number]["call"],
  ): FunctionDeclaration => ({
    name,
    overloads: [{ id: name, member: false, params, result: DYN, ...(call && { call }) }],
  });
  const functions = [
    declare("fetch", [DYN], async (_state, value) => {
      log.push(`fetch ${String(value)}`);
      await pause();
      log.push(`done ${String(value)}`);
      return value as Value;
    }),
    declare("now", [DYN], (_state, value) => {
      log.push(`now ${String(value)}`);
      return value as Value;
    }),
    declare("fail", [], async () => {
      await pause();
      throw new Error("boom");
    }),
    declare("never", [], () => new Promise<Result>(() => undefined)),
  ];
  const environment = createEnvironment({
    flavour: "kubernetes",
    variables: [
      { name: "object", type: DYN },
      { name: "later", type: STRING },
      { name: "flag", type: BOOL },
    ],
    functions,
  });
  const compile = (source: string) => {
    const compiled = environment.compile(source);
    assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
    return compiled.program;
  };
  const result = async (source: string, options = {}, object: Value = [1, 2, 3]): Promise<unknown> => {
    const evaluation = await compile(source).evaluateAsync({ object }, options);
    return evaluation.result instanceof CelError
      ? `${evaluation.result.code}: ${evaluation.result.message}`
      : evaluation.result;
  };
  return { log, compile, result };
}

describe("evaluating with functions that answer later", () => {
  test("what needs no answer is there at once, and costs the same", async () => {
    const { compile } = world();
    const program = compile("object.all(x, x > 0)");
    assert.deepEqual(await program.evaluateAsync({ object: [1] }), program.evaluate({ object: [1] }));
  });

  test("the same call is made once, for values that are equal as well", async () => {
    const { result, log } = world();
    assert.equal(await result("fetch({'a': 1, 'b': 2}) == fetch({'b': 2, 'a': 1}) && fetch(1) == 1"), true);
    assert.deepEqual(
      log.filter((line) => line.startsWith("fetch")),
      ["fetch [object Object]", "fetch 1"],
    );
  });

  test("values of different types are different arguments", async () => {
    const { result, log } = world();
    assert.equal(await result("[fetch(1), fetch(1.0), fetch(1u), fetch('1'), fetch(b'1')].size()"), 5);
    assert.equal(log.filter((line) => line.startsWith("fetch")).length, 5);
  });

  test("calls that don't depend on each other are made side by side", async () => {
    const { result, log } = world();
    assert.equal(await result("object.all(x, fetch(x) > 0) && fetch(7) + fetch(8) == 15"), true);
    assert.deepEqual(
      log.slice(0, 5),
      [1, 2, 3, 7, 8].map((x) => `fetch ${x}`),
    );
  });

  test("one that depends on another waits for it, and nothing is asked where the condition says no", async () => {
    const { result, log } = world();
    assert.equal(await result("fetch(fetch(1) + 1) == 2 ? fetch(3) : fetch(4)"), 3);
    assert.deepEqual(
      log.filter((line) => line.startsWith("fetch")),
      ["fetch 1", "fetch 2", "fetch 3"],
    );
  });

  test("an answer that is missing never decides: the last evaluation has them all", async () => {
    const { result } = world();
    assert.equal(await result("1 / 0 > 0 && fetch(false)"), false);
    assert.equal(await result("fetch(true) || 1 / 0 > 0"), true);
    assert.equal(await result("object.exists(x, fetch(x) == 3)"), true);
    assert.equal(await result("object.filter(x, fetch(x) > 1).size()"), 2);
    assert.equal(await result("[1].map(x, fetch(null))[0] == null"), true);
  });

  test("functions that answer at once are not counted, and called each time", async () => {
    const { result, log } = world();
    assert.equal(await result("now(1) + now(1)", { callLimit: 0 }), 2);
    assert.deepEqual(log, ["now 1", "now 1"]);
  });

  test("there is a limit to different calls", async () => {
    const { result, log } = world();
    assert.equal(await result("object.all(x, fetch(x) > 0)", { callLimit: 3 }), true);
    log.length = 0;
    assert.match(String(await result("object.all(x, fetch(x) > 0)", { callLimit: 2 })), /^call-limit: too many/);
    assert.ok(log.filter((line) => line.startsWith("fetch")).length <= 3);
  });

  test("a rejection is an error as any other", async () => {
    const { result } = world();
    assert.equal(await result("fail()"), "internal: internal error: Error: boom");
    assert.equal(await result("fail() || true"), true);
  });

  test("a rejection with anything whatever is an error, too", async () => {
    const call = (): Promise<Result> => Promise.reject(Object.create(null));
    const refuse = { name: "refuse", overloads: [{ id: "refuse", member: false, params: [], result: DYN, call }] };
    const compiled = createEnvironment({ flavour: "kubernetes", functions: [refuse] }).compile("refuse()");
    assert.ok(compiled.ok);
    const { result } = await compiled.program.evaluateAsync({}, { signal: AbortSignal.timeout(60_000) });
    assert.equal((result as CelError).code, "internal");
  });

  test("the wait ends with the signal and with the deadline", async () => {
    const { result, log } = world();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    assert.equal(await result("never()", { signal: controller.signal }), "interrupted: operation interrupted");
    assert.equal(await result("fetch(1) == 1", { signal: controller.signal }), "interrupted: operation interrupted");
    assert.deepEqual(log, [], "nothing is asked for nobody");
    const now = (): number => performance.now();
    assert.equal(await result("never()", { deadline: { at: now() + 10, now } }), "interrupted: operation interrupted");
    assert.equal(await result("fetch(1) == 1", { deadline: { at: now() + 600_000, now } }), true);
  });

  test("an answer that comes after the deadline is too late, whatever it is", async () => {
    const { compile } = world();
    let time = 0;
    const program = compile("fetch(1) == 1");
    const late = program.evaluateAsync({}, { deadline: { at: 1_000, now: () => time } });
    time = 2_000;
    assert.equal(((await late).result as CelError).code, "interrupted");
  });

  test("an argument without a text that tells it from others is refused", async () => {
    const { compile } = world();
    const { result } = await compile("fetch([format.dns1123Label()]) == null").evaluateAsync({});
    assert.ok(result instanceof CelError && /cannot be told from others/.test(result.message), String(result));
  });

  test("evaluations that share their questions make a call once among them, and bindings may ask there too", async () => {
    const { compile, log } = world();
    const questions = new Questions(10);
    const later = new Lazy(() =>
      questions.ask<Result>({
        key: "binding later",
        put: async () => {
          await pause();
          return "x";
        },
        failed: () => new CelError("no"),
      }),
    );
    const program = compile("fetch(later) == 'x'");
    assert.equal((await program.evaluateAsync({ later }, { questions })).result, true);
    assert.equal((await compile("fetch('x')").evaluateAsync({}, { questions })).result, "x");
    assert.deepEqual(log, ["fetch x", "done x"]);
  });

  test("calls are told apart by function and state, whatever their ids are", async () => {
    const declare = (name: string, id: string, answer: (state: unknown) => Result): FunctionDeclaration => ({
      name,
      overloads: [{ id, member: false, params: [STRING], result: DYN, call: async (state) => answer(state) }],
    });
    const functions = [
      declare("allowed", "check", () => true),
      declare("denied", "check", () => false),
      declare("check", "allowed", () => "third"),
      declare("who", "who", (state) => state as Value),
    ];
    const environment = createEnvironment({ flavour: "kubernetes", functions });
    const questions = new Questions(20);
    const run = async (source: string, state?: unknown): Promise<unknown> => {
      const compiled = environment.compile(source);
      assert.ok(compiled.ok);
      return (await compiled.program.evaluateAsync({}, { state, questions })).result;
    };
    assert.deepEqual(await run("[allowed('x'), denied('x'), check('x')]"), [true, false, "third"]);
    assert.deepEqual([await run("denied('x')"), await run("allowed('x')")], [false, true]);
    assert.deepEqual([await run("who('x')", "A"), await run("who('x')", "B")], ["A", "B"]);
    // One of another environment that has the same name is another function.
    const other = createEnvironment({ flavour: "kubernetes", functions: [declare("allowed", "check", () => "other")] });
    const compiled = other.compile("allowed('x')");
    assert.ok(compiled.ok);
    assert.equal((await compiled.program.evaluateAsync({}, { questions })).result, "other");
  });

  test("an argument's text passes for no other argument", async () => {
    const { result, log } = world();
    assert.equal(await result("[fetch([1]), fetch('[1]'), fetch('1'), fetch(['1']), fetch('s1')].size()"), 5);
    assert.equal(log.filter((line) => line.startsWith("fetch")).length, 5);
  });

  test("the limit is one for all evaluations that share their questions", async () => {
    const { compile, log } = world();
    const questions = new Questions(2);
    const codes: unknown[] = [];
    for (let i = 0; i < 10; i++) {
      const { result } = await compile("fetch(object)").evaluateAsync({ object: i }, { questions });
      codes.push(result instanceof CelError ? result.code : result);
    }
    assert.deepEqual(codes, [0, 1, ...Array(8).fill("call-limit")]);
    assert.equal(log.filter((line) => line.startsWith("fetch")).length, 2);
    // What was answered is known.
    assert.equal((await compile("fetch(object)").evaluateAsync({ object: 1 }, { questions })).result, 1);
  });

  test("a function whose arguments cannot be told from others is called once, not at every turn", async () => {
    const { compile, log } = world();
    const program = compile("object.all(x, fetch([format.dns1123Label()]) == x || true)");
    assert.equal((await program.evaluateAsync({ object: [1, 2, 3, 4] })).result, true);
    assert.equal(log.filter((line) => line.startsWith("fetch")).length, 1);
  });

  test("a large argument is read once, and making texts of many ends with the deadline", async () => {
    const { compile, log } = world();
    let reads = 0;
    const large = Array.from({ length: 300 }, (_, index) => ({
      get key(): number {
        reads += 1;
        return index;
      },
    }));
    const same = await compile("object.all(x, fetch(object) != null)").evaluateAsync({ object: large });
    assert.deepEqual([same.result, reads], [true, 300]);
    const object = Array.from({ length: 200 }, (_, index) => "x".repeat(1_000) + index);
    let looks = 0;
    // Too late from the third look on.
    const now = (): number => (++looks > 2 ? 2_000_000 : 0);
    log.length = 0;
    const { result } = await compile("object.all(x, fetch([object, x]) != null)").evaluateAsync(
      { object },
      { deadline: { at: 1_000_000, now } },
    );
    assert.equal((result as CelError).code, "interrupted");
    const calls = log.filter((line) => line.startsWith("fetch")).length;
    assert.ok(calls < 10, `${calls} calls in a loop of two hundred turns`);
  });

  test("functions may ask there, too", async () => {
    const questions = new Questions(10);
    const call = (): Result | Waiting =>
      questions.ask<Result>({ key: "own", put: async () => 7, failed: () => new CelError("no") });
    const ask = { name: "ask", overloads: [{ id: "ask", member: false, params: [], result: DYN, call }] };
    const compiled = createEnvironment({ flavour: "kubernetes", functions: [ask] }).compile("ask() + ask() == 14");
    assert.ok(compiled.ok);
    assert.equal((await compiled.program.evaluateAsync({}, { questions })).result, true);
  });

  test("a binding that waits for something else is an error, not a wait without end", async () => {
    const { compile } = world();
    const other = new Questions(10);
    const put = (): Promise<Result> => new Promise(() => undefined);
    const later = new Lazy(() => other.ask<Result>({ key: "k", put, failed: () => null }));
    const { result } = await compile("later == ''").evaluateAsync({ later });
    assert.equal((result as CelError).code, "waiting");
  });

  test("where an error comes from is found with the same questions", async () => {
    const { compile } = world();
    const questions = new Questions(10);
    const program = compile("fetch(1) == 1 && 1 / (fetch(1) - 1) == 1");
    await program.evaluateAsync({}, { questions });
    assert.equal(program.locate({}, { questions })?.text, "1 / (fetch(1) - 1)");
  });
});
