import { namesVariable } from "../../cel/index.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { CompiledVariant } from "./compiled-policy.js";

type Expressions = Pick<CompiledVariant, "conditions" | "variables" | "validations" | "annotations" | "exceptions">;

/** Whether an expression of a policy, or of an exception from it, names the variable. */
export const namesIn = (variant: Expressions, name: string): boolean =>
  expressionsOf(variant).some(
    (expression) => expression?.program && namesVariable(expression.program.references, name),
  );

function expressionsOf(variant: Expressions): readonly (Expression | undefined)[] {
  const { conditions, variables, validations, annotations, exceptions } = variant;
  return [
    ...conditions,
    ...variables.values(),
    ...validations.flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
    ...annotations.map(({ expression }) => expression),
    ...exceptions.flatMap((exception) => exception.conditions),
  ];
}
