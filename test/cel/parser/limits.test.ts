import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parserOptions } from "../../../src/cel/macros/macro-sets.js";
import { parse } from "../../../src/cel/parser/index.js";

const options = parserOptions("kubernetes", "1.37");

function textOf(expr: string): string | undefined {
  const result = parse(expr, options);
  return result.ok ? undefined : result.text;
}

const RECURSION = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
const DEPTH = "ERROR: <input>:-1:0: max recursion depth exceeded";

describe("limits of parsing", () => {
  test("an expression has at most 100,000 code points", () => {
    assert.equal(textOf(`'${"😀".repeat(99_998)}'`), undefined);
    assert.equal(
      textOf(`'${"é".repeat(99_999)}'`),
      "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000",
    );
  });

  test("a grammar rule is active at most 250 times", () => {
    assert.equal(textOf(`${"(".repeat(249)}1${")".repeat(249)}`), undefined);
    assert.equal(textOf(`${"(".repeat(250)}1${")".repeat(250)}`), RECURSION);
    assert.equal(textOf("[".repeat(250) + "]".repeat(250)), undefined);
    assert.equal(textOf("[".repeat(251) + "]".repeat(251)), RECURSION);
    assert.equal(textOf(`${"true ? 1 : ".repeat(249)}2`), undefined);
    assert.equal(textOf(`${"true ? 1 : ".repeat(250)}2`), RECURSION);
  });

  test("a path has at most 250 operators", () => {
    assert.equal(textOf(`1${"+1".repeat(250)}`), undefined);
    assert.equal(textOf(`1${"+1".repeat(251)}`), DEPTH);
    assert.equal(textOf(`a${".a".repeat(250)}`), undefined);
    assert.equal(textOf(`a${".a".repeat(251)}`), DEPTH);
  });

  test("operators side by side are on paths of their own, broken or not", () => {
    const wide = "a.b + 1, ".repeat(300);
    assert.equal(textOf(`[${wide}1]`), undefined);
    assert.match(
      textOf(`[${wide}1`) ?? "",
      /^ERROR: <input>:1:2703: Syntax error: mismatched input '<EOF>' expecting {']', ','}\n/,
    );
  });

  test("logic and runs of signs are not counted", () => {
    assert.equal(textOf(`true${" && true".repeat(5_000)}`), undefined);
    assert.equal(textOf(`${"!".repeat(5_000)}true`), undefined);
  });

  test("recovery from errors ends", () => {
    const attempts = textOf("- ! ".repeat(124)) ?? "";
    assert.match(attempts, /Syntax error: error recovery attempt limit exceeded: 30/);
    const tokens = textOf(`f(${" a".repeat(300)}`) ?? "";
    assert.match(tokens, /<input>:-1:0: error recovery token lookahead limit exceeded: 256/);
    const errors = textOf("#".repeat(200)) ?? "";
    assert.match(errors, /\n1 more errors were truncated$/);
  });

  test("at most 100 errors are shown", () => {
    const text = textOf(`[${"99999999999999999999,".repeat(120)}1]`) ?? "";
    assert.match(text, /\n20 more errors were truncated$/);
    assert.equal(text.split("invalid int literal").length - 1, 100);
  });
});
