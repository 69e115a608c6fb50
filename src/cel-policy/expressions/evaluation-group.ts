/**
 * Evaluating a list of expressions on one budget: validations, message expressions, audit annotations and match conditions are a group each
 * (spec validating-admission-policy.md 5.7 and 9.2).
 */
import { type Bindings, CelError, type Evaluation, type Result, type Waiting } from "../../cel/index.js";
import type { Attempt } from "./attempt.js";
import type { Expression, ExpressionProgram } from "./expression.js";
import { VariablesValue } from "./variables.js";

/** Results of shared expressions, which are the same for every policy that looks at the same object in the same way. */
export type SharedResults = Map<ExpressionProgram, Evaluation>;

/** What the expressions of a group can name. */
export interface GroupInputs {
  readonly attempt: Attempt;
  /** The variables' values, without `variables`. */
  readonly bindings: Bindings;
  /** The policy's variables; none where the group cannot name them. */
  readonly variables: ReadonlyMap<string, Expression>;
  /** Where results of shared expressions are kept; `undefined` to keep none. */
  readonly shared: SharedResults | undefined;
}

/** What a group came to. */
export interface GroupResults {
  /** One each, errors in the dialect's words; `undefined` where there is no expression. */
  readonly results: readonly (Result | Waiting | undefined)[];
  /** What is left of the budget. */
  readonly remaining: number;
}

/**
 * Evaluates the expressions in order, also those behind one that waits: what they ask is asked at the same time.
 * @returns an error when the budget ran out
 */
export function evaluateGroup(
  expressions: readonly (Expression | undefined)[],
  inputs: GroupInputs,
  budget: number,
): GroupResults | CelError {
  let remaining = budget;
  let variableCost = 0;
  const { attempt } = inputs;
  const { words } = attempt.dialect;
  let bindings = inputs.bindings;
  if (inputs.variables.size > 0) {
    const variables = new VariablesValue(inputs.variables, attempt.dialect, (program): Result | Waiting => {
      const { result, cost } = attempt.evaluate(program, bindings);
      variableCost += cost;
      return result;
    });
    bindings = { ...bindings, variables };
  }
  const results: (Result | Waiting | undefined)[] = [];
  for (const expression of expressions) {
    if (expression === undefined) {
      results.push(undefined);
      continue;
    }
    const { program } = expression;
    if (program === undefined) {
      results.push(new CelError(words.uncompiled(expression.error ?? "")));
      continue;
    }
    variableCost = 0;
    const { result, cost } = evaluateShared(program, expression.shared ? inputs.shared : undefined, bindings, attempt);
    if (variableCost > remaining) return new CelError(words.outOfBudget);
    remaining -= variableCost;
    if (cost > remaining) return new CelError(words.outOfBudget);
    remaining -= cost;
    results.push(result instanceof CelError ? new CelError(words.failed(expression.source, result.message)) : result);
  }
  return { results, remaining };
}

function evaluateShared(
  program: ExpressionProgram,
  shared: SharedResults | undefined,
  bindings: Bindings,
  attempt: Attempt,
): Evaluation {
  if (shared === undefined) return attempt.evaluate(program, bindings);
  let evaluation = shared.get(program);
  if (evaluation === undefined) {
    evaluation = attempt.evaluate(program, bindings);
    shared.set(program, evaluation);
  }
  return evaluation;
}
