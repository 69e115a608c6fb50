/** Conditions whose result is the same for every request. */
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import type { Expression } from "./expression.js";

/**
 * Conditions that are always false: a policy with one of them applies to nothing. A literal `false` is taken as intended.
 * @param at the place of the list
 */
export const neverMet = (conditions: readonly (Expression | undefined)[], at: FieldPath): readonly FieldError[] =>
  conditions.flatMap((condition, i) =>
    isAlways(condition, false)
      ? [{ path: [...at, i, "expression"], text: "this is false whatever the request: the policy applies to nothing" }]
      : [],
  );

/** Validations that are always true or always false, though they are written as if they depended on the request. */
export const alwaysSame = (validations: readonly (Expression | undefined)[], at: FieldPath): readonly FieldError[] =>
  validations.flatMap((validation, i) => {
    const path = [...at, i, "expression"];
    if (isAlways(validation, true)) return [{ path, text: "this is true whatever the request: it never denies" }];
    return isAlways(validation, false)
      ? [{ path, text: "this is false whatever the request: it denies all that match" }]
      : [];
  });

/** Cost limit of evaluating a constant condition; one that takes more is not evaluated. */
const COST_LIMIT = 10_000;

/** The result of an expression without variables. */
function resultOf(expression: Expression | undefined): unknown {
  const program = expression?.program;
  if (program === undefined || program.references.variables.length > 0) return undefined;
  return program.constant ?? program.evaluate({}, { costLimit: COST_LIMIT }).result;
}

function isAlways(expression: Expression | undefined, result: boolean): boolean {
  return resultOf(expression) === result && !/^\s*\(*\s*(?:true|false)\s*\)*\s*$/.test(expression?.source ?? "");
}
