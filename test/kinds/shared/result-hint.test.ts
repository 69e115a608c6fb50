import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createEnvironment, DYN, INT, STRING } from "../../../src/cel/index.js";
import { resultHint } from "../../../src/kinds/shared/expressions/expression.js";
import type { ResultType } from "../../../src/kinds/shared/expressions/result-type.js";

const environment = createEnvironment({
  flavour: "kubernetes",
  variables: [
    { name: "thing", type: DYN },
    { name: "word", type: STRING },
    { name: "count", type: INT },
  ],
});

function hintFor(text: string, wanted: ResultType): string | undefined {
  const checked = environment.check(text);
  assert.ok(checked.ok, text);
  return resultHint(text, checked.type, wanted, environment);
}

describe("where an expression gives a value of another type, what is proposed", () => {
  for (const [text, wanted, hint] of [
    ["thing.on", "bool", /thing\.on == true$/],
    ["word", "bool", /word == ""$/],
    ["count", "bool", /count > 0$/],
    ["thing.?on", "bool", /orValue\(false\) == true$/],
    ["count", "string", /string\(count\)$/],
  ] as const) {
    test(`is tried: ${text} as a ${wanted}`, () => assert.match(hintFor(text, wanted) ?? "", hint));
  }

  for (const [text, wanted] of [
    ["5", "bool"],
    ["'tolu'", "bool"],
    ["size('tolu')", "bool"],
    ["[1, 2]", "bool"],
    ["7", "string"],
  ] as const) {
    test(`is nothing that is always the same: ${text} as a ${wanted}`, () =>
      assert.equal(hintFor(text, wanted), undefined));
  }
});
