import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { isSameValue } from "../../../src/kinds/shared/expressions/long-expressions.js";
import { VariablesValue } from "../../../src/kinds/shared/expressions/variables.js";

const read = (text: string): never => parseJson(text) as never;

describe("values of a variable in two attempts", () => {
  test("are the same where they say the same, whatever their keys are", () => {
    for (const text of ['{"a":[1,"x",null,{}]}', '{"constructor":{"a":1},"__proto__":{"b":2},"hasOwnProperty":3}']) {
      assert.equal(isSameValue(read(text), read(text)), true, text);
    }
  });

  test("are others where anything differs, also the kind of a number, and where there is too much to look at", () => {
    const pairs: readonly (readonly [string, string])[] = [
      ['{"a":1}', '{"a":1.0}'],
      ['{"a":1}', '{"b":1}'],
      ['{"constructor":1}', '{"constructor":2}'],
      ["[1]", '{"0":1}'],
      ["[1,2]", "[1]"],
      ["null", "{}"],
      ["[[[[[1]]]]]", "[[[[[1]]]]]"],
      [JSON.stringify(Array(2_000).fill(1)), JSON.stringify(Array(2_000).fill(1))],
    ];
    for (const [a, b] of pairs)
      assert.equal(isSameValue(read(a), read(b)), false, `${a.slice(0, 40)} ${b.slice(0, 40)}`);
  });

  test("are others when they are the variables of two groups", () => {
    const variables = (): VariablesValue => new VariablesValue(new Map(), { variables: {} } as never);
    const one = variables();
    assert.deepEqual([isSameValue(one, one), isSameValue(one, variables())], [true, false]);
  });
});
