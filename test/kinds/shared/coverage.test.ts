import assert from "node:assert/strict";
import { test } from "node:test";
import { Coverage } from "../../../src/kinds/shared/index.js";
import { createExpressionCompiler, STORED_VERSION } from "../../../src/kinds/validating-admission-policy/index.js";

test("an expression that stands in two places is reached in both at once", () => {
  const coverage = new Coverage();
  const compiler = createExpressionCompiler(STORED_VERSION, STORED_VERSION, coverage);
  const scope = { optional: [], variables: undefined };
  const [first, second] = [0, 1].map(() => compiler.compile("object.a == 1", "bool", scope));
  assert.ok(first?.program !== undefined && second !== undefined);
  first.program.evaluate({ object: { a: 1 } });
  first.program.evaluate({ object: { a: 2 } });
  const wanted = "both" as const;
  const report = coverage.report([
    { policy: "a", path: "spec.validations[0].expression", expression: first, wanted },
    { policy: "b", path: "spec.validations[0].expression", expression: second, wanted },
  ]);
  assert.deepEqual(report, { covered: 4, total: 4, gaps: [] });
});
