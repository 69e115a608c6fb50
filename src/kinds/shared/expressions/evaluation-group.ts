/**
 * Evaluates a list of expressions on one budget: validations, message expressions, audit annotations and match conditions are a group each
 * (spec validating-admission-policy.md 5.7 and 9.2).
 */
import { type Bindings, CelError, type Evaluation, type Result, Waiting } from "../../../cel/index.js";
import type { Attempt } from "./attempt.js";
import type { Expression, ExpressionProgram } from "./expression.js";
import type { GroupProgress } from "./progress.js";
import { VariablesValue } from "./variables.js";

/** Results of shared expressions, which are the same for every policy that sees the same object in the same way. */
export class SharedResults {
  /** Made at first use: most policies share nothing. */
  #evaluations: Map<ExpressionProgram, Evaluation> | undefined;

  get(program: ExpressionProgram): Evaluation | undefined {
    return this.#evaluations?.get(program);
  }

  set(program: ExpressionProgram, evaluation: Evaluation): void {
    this.#evaluations ??= new Map();
    this.#evaluations.set(program, evaluation);
  }
}

/** The inputs of a group's expressions. */
export interface GroupInputs {
  readonly attempt: Attempt;
  /** The variables' values, without `variables`. */
  readonly bindings: Bindings;
  /** Identifies evaluations of the same expressions for one request: the policy's parameter, as it was found. */
  readonly about: unknown;
  /** The policy's variables; none where the group cannot name them. */
  readonly variables: ReadonlyMap<string, Expression>;
  /** The store of shared expressions' results; `undefined` to keep none. */
  readonly shared: SharedResults | undefined;
}

/** The results of a group. */
export interface GroupResults {
  /** A result for each, errors in the dialect's words; `undefined` where there is no expression. */
  readonly results: readonly (Result | Waiting | undefined)[];
  /** The rest of the budget. */
  readonly remaining: number;
}

/**
 * Evaluates the expressions in order, also those behind one that waits: their questions are put at the same time. When others must have their turn,
 * the rest waits, and the next attempt continues there.
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
      owed: 0,
      remaining: budget,
      failed: undefined,
    });
  if (progress.failed !== undefined) return progress.failed;
  const { results, variables } = progress;
  const { questions } = attempt.world;
  let { bindings } = inputs;
  if (variables !== undefined) {
    bindings = { ...bindings, variables };
    const within = bindings;
    const evaluate = (program: ExpressionProgram): Result | Waiting => {
      const { result, cost } = attempt.evaluatePart(program, within);
      if (!(result instanceof Waiting)) progress.owed += cost;
      return result;
    };
    variables.evaluateWith(evaluate, () => attempt.over());
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
    if (attempt.interruption !== undefined || attempt.over()) return unfinished(progress, inputs);
    const { result, cost } = evaluateShared(program, expression.shared ? inputs.shared : undefined, bindings, attempt);
    if (result instanceof Waiting && !questions.asking) return unfinished(progress, inputs);
    if (progress.owed + cost > progress.remaining) {
      progress.failed = new CelError(dialect.words.outOfBudget);
      attempt.passed(expression.source, budget, "all expressions that are evaluated together");
      break;
    }
    progress.remaining -= progress.owed + cost;
    progress.owed = 0;
    results.push(
      result instanceof CelError ? new CelError(dialect.words.failed(expression.source, result.message)) : result,
    );
  }
  // A waiting expression begins anew with the answer, its variables, too.
  if (questions.asking) attempt.forget(progress);
  return progress.failed ?? { results, remaining: progress.remaining };
}

/** The result of a group that continues when others had their turn. One that waits for an answer as well begins anew with it, its variables, too. */
function unfinished(progress: GroupProgress, { attempt }: GroupInputs): GroupResults {
  if (attempt.world.questions.asking) attempt.forget(progress);
  return { results: [...progress.results, Waiting.INSTANCE], remaining: progress.remaining };
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
    if (!(evaluation.result instanceof Waiting)) shared.set(program, evaluation);
  }
  return evaluation;
}
