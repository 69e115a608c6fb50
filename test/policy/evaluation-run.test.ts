import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EvaluationRun } from "../../src/policy/evaluation-run.js";

/** A run within a run within … */
function nested(depth: number): readonly [outer: EvaluationRun, inner: EvaluationRun] {
  const outer = new EvaluationRun(100);
  let inner = outer;
  for (let level = 0; level < depth; level++) inner = EvaluationRun.within(inner, 50);
  return [outer, inner];
}

describe("the signal of an evaluation", () => {
  test("is made once, at any depth: what waits looks at it every few milliseconds", () => {
    for (const depth of [0, 1, 16]) {
      const [, inner] = nested(depth);
      assert.equal(inner.signal, inner.signal);
    }
  });

  for (const asked of ["before", "after"] as const) {
    test(`tells the end of its own and of the whole evaluation, asked for ${asked} it`, () => {
      for (const which of [0, 1] as const) {
        const runs = nested(3);
        if (asked === "before") assert.equal(runs[1].signal.aborted, false);
        runs[which].abort();
        assert.equal(runs[1].signal.aborted, true);
      }
    });
  }

  test("does not tell the whole evaluation of a part's end", () => {
    const [outer, inner] = nested(1);
    inner.abort();
    assert.equal(outer.signal.aborted, false);
  });
});
