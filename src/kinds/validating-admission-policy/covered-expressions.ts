import type { CoveredExpression, Wanted } from "../../cel-policy/coverage/coverage.js";
import type { Expression } from "../../cel-policy/expressions/expression.js";
import type { PreparedPolicy } from "./prepared-policy.js";

/** The expressions of a policy with their places: validations and match conditions must be seen both true and false, the others evaluated. */
export function* expressionsOf(policy: PreparedPolicy): Iterable<CoveredExpression> {
  yield* each(policy, "matchConditions", "expression", policy.conditions, "both", policy.conditionNames);
  yield* each(policy, "variables", "expression", [...policy.variables.values()], "evaluated", [
    ...policy.variables.keys(),
  ]);
  yield* each(policy, "validations", "expression", policy.expressions, "both");
  yield* each(policy, "validations", "messageExpression", policy.messages, "evaluated");
  yield* each(policy, "auditAnnotations", "valueExpression", policy.annotations, "evaluated", policy.annotationKeys);
}

function* each(
  { name }: PreparedPolicy,
  list: string,
  member: string,
  expressions: readonly (Expression | undefined)[],
  wanted: Wanted,
  names: readonly string[] = [],
): Iterable<CoveredExpression> {
  for (const [i, expression] of expressions.entries()) {
    if (expression !== undefined)
      yield { policy: name, path: `spec.${list}[${i}].${member}`, name: names[i], expression, wanted };
  }
}
