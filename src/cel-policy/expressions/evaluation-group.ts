/**
 * Evaluating a list of expressions on one budget: validations, message expressions, audit annotations and match conditions are a group each
 * (spec validating-admission-policy.md 5.7 and 9.2).
 */
import { type Bindings, CelError, type Evaluation, type Result, Waiting } from "../../cel/index.js";
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
  /** What tells evaluations of the same expressions for one request apart: the policy's parameter, as it was found. */
  readonly about: unknown;
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
 * Evaluates the expressions in order, also those behind one that waits: what they ask is asked at the same time. When others must have their turn
 * the rest waits, and the next attempt goes on there.
 * @returns an error when the budget ran out
 */
export function evaluateGroup(
  expressions: readonly (Expression | undefined)[],
  inputs: GroupInputs,
  budget: number,
): GroupResults | CelError {
  const { attempt, about } = inputs;
  const { dialect } = attempt;
  const progress =
    attempt.known(expressions, about) ??
    attempt.begin({
      expressions,
      about,
      results: [],
      variables: inputs.variables.size > 0 ? new VariablesValue(inputs.variables, dialect) : undefined,
      remaining: budget,
      failed: undefined,
    });
  if (progress.failed !== undefined) return progress.failed;
  const { results, variables } = progress;
  let variableCost = 0;
  let { bindings } = inputs;
  if (variables !== undefined) {
    bindings = { ...bindings, variables };
    const within = bindings;
    variables.evaluator = (program) => {
      const { result, cost } = attempt.evaluate(program, within);
      variableCost += cost;
      return result;
    };
  }
  for (let i = results.length; i < expressions.length; i++) {
    const expression = expressions[i];
    if (expression === undefined) {
      results.push(undefined);
      continue;
    }
    const { program } = expression;
    if (program === undefined) {
      results.push(new CelError(dialect.words.uncompiled(expression.error ?? "")));
      continue;
    }
    const { waiting } = attempt.world.questions;
    if (attempt.over()) {
      if (waiting) attempt.forget(progress);
      return { results: [...results, Waiting.INSTANCE], remaining: progress.remaining };
    }
    variableCost = 0;
    const { result, cost } = evaluateShared(program, expression.shared ? inputs.shared : undefined, bindings, attempt);
    if (variableCost + cost > progress.remaining) {
      progress.failed = new CelError(dialect.words.outOfBudget);
      break;
    }
    progress.remaining -= variableCost + cost;
    results.push(
      result instanceof CelError ? new CelError(dialect.words.failed(expression.source, result.message)) : result,
    );
  }
  // What waits begins anew with the answer, its variables, too.
  if (attempt.world.questions.waiting) attempt.forget(progress);
  return progress.failed ?? { results, remaining: progress.remaining };
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
