import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Bindings, createEnvironment, DYN, type FunctionDeclaration, STRING } from "../../../src/cel/index.js";

const variables = [
  { name: "s", type: STRING },
  { name: "d", type: DYN },
];

function evaluate(source: string, bindings: Bindings, costLimit?: number, functions: FunctionDeclaration[] = []) {
  const compiled = createEnvironment({ flavour: "kubernetes", variables, functions }).compile(source);
  assert.ok(compiled.ok, source);
  return compiled.program.evaluate(bindings, costLimit === undefined ? {} : { costLimit });
}

describe("string functions on variables", () => {
  test("halves of surrogate pairs that stand alone count one each, until they come together", () => {
    const s = "\ud83d:\ude00";
    assert.equal(evaluate("s.size()", { s }).result, 3);
    assert.equal(evaluate("s.replace(':', '').size()", { s }).result, 1);
    assert.equal(evaluate("s.replace(':', 'x').size()", { s }).result, 3);
    assert.equal(evaluate("s.split(':').join('').size()", { s }).result, 1);
    assert.equal(evaluate("s.split(':')[1].size()", { s }).result, 1);
    assert.equal(evaluate("s.indexOf(':')", { s }).result, 1);
    // Longer than what is looked through character by character.
    const long = `${"\ud83d".repeat(20)}:\ude00`;
    assert.equal(evaluate("s.replace(':', '').size()", { s: long }).result, 20);
    assert.equal(evaluate("s.lastIndexOf(':')", { s: long }).result, 20);
  });

  test("a piece that is not there is the list's error, and what is no text the function's", () => {
    const message = ({ result }: ReturnType<typeof evaluate>) => (result as { readonly message?: string }).message;
    assert.equal(message(evaluate("s.split(':')[2]", { s: "a:b" })), "index out of bounds: 2");
    assert.equal(message(evaluate("d.split(':')[0]", { d: 1 })), "no such overload: split(int, string)");
    assert.equal(message(evaluate("d.split(':')[0]", {})), "no such attribute(s): d");
    assert.equal(message(evaluate("d.indexOf(':')", { d: null })), "no such overload: indexOf(null_type, string)");
    assert.equal(evaluate("d.indexOf(':')", { d: ["a", ":"] }).result, 1);
  });

  test("wherever the limit is, the cost reported is the first beyond it", () => {
    const source =
      "s.lowerAscii().replace('a', 'bcd').split(':')[0].indexOf('c') > 0 && [s, s].map(e, e.trim()).join(s) != ''";
    const bindings = { s: "Some Text With A Colon: Here" };
    const { cost } = evaluate(source, bindings);
    let last = 0;
    for (let limit = 0; limit < cost; limit++) {
      const stopped = evaluate(source, bindings, limit).cost;
      assert.ok(stopped > limit && stopped <= cost && stopped >= last, `${limit}: ${stopped}`);
      last = stopped;
    }
    assert.equal(last, cost);
    assert.equal(evaluate(source, bindings, cost).result, true);
  });

  test("a function that takes the place of one of them is called", () => {
    const own: FunctionDeclaration = {
      name: "trim",
      replaces: true,
      overloads: [{ id: "string_trim", member: true, params: [STRING], result: STRING, implementation: () => "own" }],
    };
    assert.equal(evaluate("s.trim()", { s: " x " }, undefined, [own]).result, "own");
  });
});
