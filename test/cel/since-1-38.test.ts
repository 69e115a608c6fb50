/** Expressions as Kubernetes 1.38 has them (spec kubernetes-1-38.md 1): the answers of its own libraries. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CelError, createEnvironment, DYN, type EnvironmentOptions } from "../../src/cel/index.js";
import { type CelLine, celLine } from "../../src/offline/cases/cel/cel-line.js";
import { readVariables } from "../../src/offline/cases/cel/variables.js";
import { inSteps } from "./support/in-steps.js";

const vectors = new URL("../../../test/vectors/", import.meta.url);
const { bindings, ...declared } = await readVariables(fileURLToPath(new URL("cel/variables.json", vectors)));
const environment = createEnvironment({ flavour: "kubernetes", version: "1.38", ...declared });
const stepped = inSteps(environment, { count: 0 });

interface Line extends CelLine {
  readonly note: string;
  readonly changed: boolean;
}

const lines = readFileSync(new URL("kubernetes-1.38/cel.jsonl", vectors), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Line);

describe("Kubernetes 1.38 gives the reference's values, errors, costs and estimates", () => {
  for (const topic of new Set(lines.map(({ note }) => note))) {
    test(topic, () => {
      for (const { note, changed: _, ...expected } of lines) {
        if (note !== topic) continue;
        for (const how of [environment, stepped]) {
          assert.deepEqual(JSON.parse(JSON.stringify(celLine(how, bindings, expected.expr))), expected);
        }
      }
    });
  }
});

const variables = [{ name: "x", type: DYN }];

/** The value, error or first problem of an expression, and its cost. */
function outcome(expression: string, options: Partial<EnvironmentOptions>, x: unknown = null): unknown {
  const compiled = createEnvironment({ flavour: "kubernetes", variables, ...options }).compile(expression);
  if (!compiled.ok) return compiled.issues[0]?.message ?? compiled.text;
  const { result, cost } = compiled.program.evaluate({ x: x as never });
  return [result instanceof CelError ? result.message : result, cost];
}

describe("a server's behaviour beside the version of the environment", () => {
  const of = (version: EnvironmentOptions["version"], behaviour?: "1.37" | "1.38") => ({
    ...(version && { version }),
    ...(behaviour && { behaviour }),
  });

  test("is that of 1.37 unless another is asked for, also in one process with it", () => {
    assert.deepEqual(outcome("0.0 / 0.0 < 1.0", {}), ["NaN values cannot be ordered", 2]);
    assert.deepEqual(outcome("0.0 / 0.0 < 1.0", of("1.38")), [false, 2]);
    assert.deepEqual(outcome("0.0 / 0.0 < 1.0", of("1.37")), ["NaN values cannot be ordered", 2]);
  });

  test("orders NaN for expressions that keep to an older version, too, and has no function that is newer than those", () => {
    assert.deepEqual(outcome("!(double(x) < 5.0)", of("1.37", "1.38"), "NaN"), [true, 4]);
    assert.equal(outcome("cidr('10.0.0.0/8').isMask()", of("1.37", "1.38")), "undeclared reference to 'isMask'");
    assert.deepEqual(outcome("cidr('10.0.0.1/8').isMask()", of("1.38")), [false, 2]);
  });

  test("runs macros over an empty text, and over no other text", () => {
    assert.deepEqual(outcome("x.all(c, false)", of("1.38"), ""), [true, 2]);
    assert.deepEqual(outcome("x.all(c, false)", of("1.38"), "a"), ["got 'types.String', expected iterable type", 1]);
    assert.deepEqual(outcome("x.all(c, false)", of("1.37"), ""), ["got 'types.String', expected iterable type", 1]);
  });

  test("charges nothing for what failed", () => {
    assert.deepEqual(outcome("[1 / 0, x.size()]", of("1.37"), "abc"), ["division by zero", 11]);
    assert.deepEqual(outcome("[1 / 0, x.size()]", of("1.38"), "abc"), ["division by zero", 1]);
    assert.deepEqual(outcome("[0, 1].map(i, 1 / i)", of("1.38")), ["division by zero", 5]);
  });

  test("evaluates what a failed operand makes needless no more, also where it would ask", () => {
    let asked = 0;
    const ask = () => {
      asked++;
      return true;
    };
    const functions = [
      { name: "ask", overloads: [{ id: "ask", member: false, params: [], result: DYN, implementation: ask }] },
    ];
    outcome("1 / 0 == ask()", { ...of("1.38"), functions });
    assert.equal(asked, 0);
    outcome("1 / 0 == ask()", { ...of("1.37"), functions });
    assert.equal(asked, 1);
  });

  test("proposes names, at most two, and none for one that nothing resembles", () => {
    const message = (name: string) => outcome(name, of("1.38"));
    assert.equal(message("siz(x)"), "undeclared reference to 'siz' (did you mean 'size'?)");
    assert.equal(
      message("sets.contain([1], [1])"),
      "undeclared reference to 'sets.contain' (did you mean 'sets.contains'?)",
    );
    assert.equal(message("zzzzzz"), "undeclared reference to 'zzzzzz'");
    assert.equal(outcome("siz(x)", of("1.37")), "undeclared reference to 'siz' (in container '')");
  });

  test("compares no name of more than so many characters with others, and is quick about many", () => {
    const began = performance.now();
    assert.equal(outcome("a".repeat(50_000), of("1.38")), `undeclared reference to '${"a".repeat(50_000)}'`);
    assert.ok(performance.now() - began < 1_000);
  });
});

describe("quantities of many digits", () => {
  const value = (expression: string) => outcome(expression, { version: "1.38" });

  test("that are far apart are added without being written out", () => {
    const [sum] = value("quantity('1e2000000000').add(quantity('1Ki')).isGreaterThan(quantity('1e2000000000'))") as [
      unknown,
    ];
    assert.equal(sum, true);
    const [text] = value("[quantity('1Ki').add(quantity('1e2000000000'))].map(q, sign(q))[0]") as [unknown];
    assert.equal(text, 1);
  });

  test("keep their int64 to the last digit", () => {
    assert.deepEqual(value("quantity('-9223372036854775808').asInteger() == -9223372036854775808"), [true, 4]);
    assert.equal((value("quantity('9223372036854775808').isInteger()") as [unknown])[0], false);
  });
});
