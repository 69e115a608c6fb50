import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TypeChecker } from "../../src/cel/checker/index.js";
import { validate } from "../../src/cel/checker/validators/index.js";
import { Estimator } from "../../src/cel/cost/estimate/estimator.js";
import { parserOptions } from "../../src/cel/macros/macro-sets.js";
import { parse } from "../../src/cel/parser/index.js";
import { unparse } from "../../src/cel/unparse/unparse.js";
import { mutate, noise, Random, repetition, seedExpressions, soup } from "./support/mutations.js";
import { vectorDeclarations } from "./support/vectors.js";

const declarations = vectorDeclarations();
const checker = new TypeChecker(declarations);
const options = parserOptions("kubernetes", declarations.version);

/** No expression may take more of a processor's time; wall-clock time would depend on what else the machine does. */
const MAX_MILLISECONDS = 10_000;

function survive(expr: string): void {
  const start = process.cpuUsage();
  const parsed = parse(expr, options);
  if (parsed.ok) {
    unparse(parsed.parsed.expr, parsed.parsed.macroCalls);
    const checked = checker.check(parsed.parsed);
    if (checked.ok) {
      validate(checked.checked, declarations);
      const { min, max } = new Estimator(checked.checked).cost(checked.checked.expr);
      assert.ok(min >= 0n && max < 2n ** 64n);
    } else {
      assert.ok(checked.issues.length > 0);
    }
  } else {
    assert.ok(parsed.issues.length > 0);
    assert.match(parsed.text, /^ERROR: <input>:/);
  }
  const { user, system } = process.cpuUsage(start);
  const took = (user + system) / 1_000;
  assert.ok(took < MAX_MILLISECONDS, `${took} ms for ${JSON.stringify(expr.slice(0, 200))}`);
}

describe("hostile expressions neither crash nor hang the front end", () => {
  const random = new Random(20_260_101);
  const seeds = seedExpressions();
  const kinds = [
    ["mutated expressions", 1_500, () => mutate(random, seeds)],
    ["token soup", 500, () => soup(random)],
    ["random characters", 500, () => noise(random)],
    ["repetitions", 60, () => repetition(random)],
  ] as const;
  for (const [name, count, make] of kinds) {
    test(name, () => {
      for (let index = 0; index < count; index += 1) survive(make());
    });
  }

  test("a long well-formed expression with an error at its end", () => {
    survive(`${"a.b(1) + ".repeat(11_000)}`);
    survive(`[${"{'k': x.y[1], 'l': -2.5}, ".repeat(3_500)}`);
    survive(`-5[${"1+".repeat(49_000)}]`);
  });
});
