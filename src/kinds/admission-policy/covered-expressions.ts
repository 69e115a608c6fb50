import type { CoveredExpression, Wanted } from "../shared/coverage/coverage.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { PreparedCommon } from "./prepared-common.js";

/** The expressions common to policies of either kind, with their places: match conditions must be seen both true and false, variables evaluated. */
export function* commonExpressionsOf(policy: PreparedCommon): Iterable<CoveredExpression> {
  const { name, conditions, conditionNames, variables } = policy;
  yield* coveredList(name, "matchConditions", "expression", conditions, "both", conditionNames);
  yield* coveredList(name, "variables", "expression", [...variables.values()], "evaluated", [...variables.keys()]);
}

/** One member of each item of a list in a policy's spec. */
export function* coveredList(
  policy: string,
  list: string,
  member: string,
  expressions: readonly (Expression | undefined)[],
  wanted: Wanted,
  names: readonly string[] = [],
): Iterable<CoveredExpression> {
  for (const [i, expression] of expressions.entries()) {
    if (expression !== undefined)
      yield { policy, path: `spec.${list}[${i}].${member}`, name: names[i], expression, wanted };
  }
}
