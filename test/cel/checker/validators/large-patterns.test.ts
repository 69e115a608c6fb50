import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createEnvironment, STRING } from "../../../../src/cel/index.js";
import { celLine } from "../../../../src/offline/cases/cel/cel-line.js";

const environment = createEnvironment({ flavour: "kubernetes", variables: [{ name: "word", type: STRING }] });
const pattern = (count: number): string => JSON.stringify("q{1000}".repeat(count));

describe("a constant pattern", () => {
  test("may be larger than one that comes from data", () => {
    const compiled = environment.compile(`word.matches(${pattern(13)})`);
    assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
    assert.equal(compiled.program.evaluate({ word: "q" }).result, false);
  });

  for (const call of [`word.matches(${pattern(60)})`, `word.find(${pattern(60)}) == ""`]) {
    test(`that is too large is told where the program is made, in bulk in the same words: ${call.slice(0, 16)}`, () => {
      const compiled = environment.compile(call);
      assert.ok(!compiled.ok);
      assert.deepEqual([compiled.phase, compiled.text], ["program", "error parsing regexp: expression too large"]);
      assert.ok(environment.check(call).ok);
      const { type, error } = celLine(environment, {}, call);
      assert.deepEqual({ type, error }, { type: "bool", error: `program: ${compiled.text}` });
    });
  }
});
