import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TypeChecker } from "../../src/cel/checker/index.js";
import { validate } from "../../src/cel/checker/validators/index.js";
import { Estimator } from "../../src/cel/cost/estimate/estimator.js";
import type { Issue } from "../../src/cel/index.js";
import { parserOptions } from "../../src/cel/macros/macro-sets.js";
import { parse } from "../../src/cel/parser/index.js";
import { formatLongType } from "../../src/cel/types.js";
import { readVectors, type Vector, vectorDeclarations } from "./support/vectors.js";

const declarations = vectorDeclarations();
const checker = new TypeChecker(declarations);
const options = parserOptions("kubernetes", declarations.version);

/** What the front end makes of an expression, in the form of the vectors. */
function compile({ expr }: Vector): Omit<Vector, "error"> {
  const parsed = parse(expr, options);
  if (!parsed.ok) return { expr, issues: placed(parsed.issues), issuesText: parsed.text };
  const result = checker.check(parsed.parsed);
  if (!result.ok) return { expr, issues: placed(result.issues), issuesText: result.text };
  const invalid = validate(result.checked, declarations);
  if (invalid !== undefined) return { expr, issues: placed(invalid.issues), issuesText: invalid.text };
  const { min, max } = new Estimator(result.checked).cost(result.checked.expr);
  return { expr, type: formatLongType(result.checked.type), estimateMin: `${min}`, estimateMax: `${max}` };
}

/** Issues as the vectors have them. */
const placed = (issues: readonly Issue[]) => issues.map(({ line, column, message }) => ({ line, column, message }));

/** The part of a vector that the front end answers for. */
function expected({ expr, issues, issuesText, type, estimateMin, estimateMax }: Vector): Omit<Vector, "error"> {
  if (issues !== undefined) return { expr, issues, issuesText: issuesText! };
  return { expr, type: type!, estimateMin: estimateMin!, estimateMax: estimateMax! };
}

describe("what Kubernetes makes of an expression before it runs", () => {
  for (const file of ["curated.jsonl", "generated.jsonl"]) {
    test(`issues, their display, types and cost estimates of ${file} are equal to the letter`, () => {
      for (const vector of readVectors(file)) {
        const wanted = expected(vector);
        const found = compile(vector);
        // An expression that fails while its program is built has no estimate.
        const comparable =
          wanted.estimateMin === undefined && wanted.issues === undefined
            ? { ...found, estimateMin: undefined, estimateMax: undefined }
            : found;
        assert.deepEqual(comparable, wanted, vector.expr);
      }
    });
  }
});
