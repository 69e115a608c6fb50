import type { CoveredExpression, Wanted } from "../../cel-policy/coverage/coverage.js";
import type { Expression } from "../../cel-policy/expressions/expression.js";
import type { CompiledPolicy } from "./compiled-policy.js";

/** The expressions of a policy with their places: validations and match conditions must be seen both true and false, the others evaluated. */
export function* expressionsOf({ resource, variants }: CompiledPolicy): Iterable<CoveredExpression> {
  const [base] = variants;
  if (base === undefined) return;
  const policy = resource.metadata.name ?? "";
  const each = function* (
    list: string,
    member: string,
    expressions: readonly (Expression | undefined)[],
    wanted: Wanted,
  ): Iterable<CoveredExpression> {
    for (const [i, expression] of expressions.entries()) {
      if (expression !== undefined) yield { policy, path: `spec.${list}[${i}].${member}`, expression, wanted };
    }
  };
  const { conditions, variables, validations, annotations } = base;
  yield* each("matchConditions", "expression", conditions, "both");
  yield* each("variables", "expression", [...variables.values()], "evaluated");
  yield* each(
    "validations",
    "expression",
    validations.map(({ expression }) => expression),
    "both",
  );
  yield* each(
    "validations",
    "messageExpression",
    validations.map(({ messageExpression }) => messageExpression),
    "evaluated",
  );
  yield* each(
    "auditAnnotations",
    "valueExpression",
    annotations.map(({ expression }) => expression),
    "evaluated",
  );
}
