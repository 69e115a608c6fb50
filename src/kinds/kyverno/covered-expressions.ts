import type { CoveredExpression, Wanted } from "../shared/coverage/coverage.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { CompiledPolicy, CompiledVariant } from "./compiled-policy.js";

/** The expressions of a policy with their places: validations and match conditions must be seen both true and false, the others evaluated. */
export function* expressionsOf({ variants: [base] }: CompiledPolicy): Iterable<CoveredExpression> {
  if (base !== undefined) yield* expressionsOfVariant(base);
}

/** Those of a variant. */
export function* expressionsOfVariant(variant: CompiledVariant): Iterable<CoveredExpression> {
  const { conditions, variables, validations, annotations } = variant;
  const names = (variant.spec.matchConditions ?? []).map(({ name }) => name);
  yield* each(variant, "matchConditions", "expression", conditions, "both", names);
  yield* each(variant, "variables", "expression", [...variables.values()], "evaluated", [...variables.keys()]);
  const [expressions, messages] = [
    validations.map(({ expression }) => expression),
    validations.map(({ messageExpression }) => messageExpression),
  ];
  yield* each(variant, "validations", "expression", expressions, "both");
  yield* each(variant, "validations", "messageExpression", messages, "evaluated");
  const [values, keys] = [annotations.map(({ expression }) => expression), annotations.map(({ key }) => key)];
  yield* each(variant, "auditAnnotations", "valueExpression", values, "evaluated", keys);
}

function* each(
  { policy: { metadata } }: CompiledVariant,
  list: string,
  member: string,
  expressions: readonly (Expression | undefined)[],
  wanted: Wanted,
  names: readonly (string | undefined)[] = [],
): Iterable<CoveredExpression> {
  for (const [i, expression] of expressions.entries()) {
    const path = `spec.${list}[${i}].${member}`;
    if (expression !== undefined) yield { policy: metadata.name ?? "", path, name: names[i], expression, wanted };
  }
}
