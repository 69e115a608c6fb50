/**
 * Evaluating a list of expressions on one budget: validations, message expressions, audit annotations and match conditions are a group each
 * (spec validating-admission-policy.md 5.7 and 9.2).
 */

import {
  type Bindings,
  CelError,
  type Evaluation,
  type EvaluationOptions,
  type Program,
  type Result,
  type Value,
} from "../../cel/index.js";
import type { Expression } from "./expression.js";
import { EXPRESSION_COST_LIMIT, OUT_OF_BUDGET } from "./limits.js";
import { Variables } from "./variables.js";

/** One look at one request by all policies (disposable): what must be awaited before the answer counts, and whether time ran out. */
export class Run {
  /** Answers that are not there yet; a run with any is repeated when they have come. */
  readonly awaited: Promise<unknown>[] = [];
  /** The deadline passed during an evaluation: no answer counts. */
  interrupted = false;
  readonly options: EvaluationOptions;

  constructor(private readonly deadline: EvaluationOptions["deadline"]) {
    this.options =
      deadline === undefined ? { costLimit: EXPRESSION_COST_LIMIT } : { costLimit: EXPRESSION_COST_LIMIT, deadline };
  }

  /** Whether the deadline has passed: many short expressions take as long as a long one. */
  expired(): boolean {
    const { deadline } = this;
    if (deadline !== undefined && deadline.now() > deadline.at) this.interrupted = true;
    return this.interrupted;
  }

  /** Evaluates once; a result that has to be awaited counts as an error until it is there. */
  evaluate(program: Program, bindings: Bindings): Evaluation {
    const evaluation = program.evaluate(bindings, this.options);
    const { result } = evaluation;
    if (result instanceof CelError && result.message.startsWith(INTERRUPTED)) this.interrupted = true;
    return evaluation;
  }
}

const INTERRUPTED = "operation interrupted";

/** Results of shared expressions, which are the same for every policy that looks at the same object in the same way. */
export type SharedResults = Map<Program, Evaluation>;

/** What the expressions of a group can name. */
export interface GroupInputs {
  readonly run: Run;
  /** The variables' values, without `variables`. */
  readonly bindings: Bindings;
  /** The policy's variables; none where the group cannot name them. */
  readonly variables: ReadonlyMap<string, Expression>;
  /** Where results of shared expressions are kept; `undefined` to keep none. */
  readonly shared: SharedResults | undefined;
}

/** The result of one expression: a value, or the text of its error. */
export type ExpressionResult = { readonly value: Value } | { readonly error: string };

/** What a group came to: a result each (`undefined` where there is no expression) and what is left of the budget, or that it ran out. */
export type GroupResult =
  | { readonly results: readonly (ExpressionResult | undefined)[]; readonly remaining: number }
  | { readonly outOfBudget: true; readonly message: string };

const OVERSPENT: GroupResult = { outOfBudget: true, message: OUT_OF_BUDGET };

/** Evaluates the expressions in order. */
export function evaluateGroup(
  expressions: readonly (Expression | undefined)[],
  inputs: GroupInputs,
  budget: number,
): GroupResult {
  let remaining = budget;
  let variableCost = 0;
  const { run } = inputs;
  let bindings = inputs.bindings;
  if (inputs.variables.size > 0) {
    const variables = new Variables(inputs.variables, ({ program }): Result => {
      if (program === undefined) return new CelError("not compiled");
      const { result, cost } = run.evaluate(program, bindings);
      variableCost += cost;
      return result as Result;
    });
    bindings = { ...bindings, variables };
  }
  const results: (ExpressionResult | undefined)[] = [];
  for (const expression of expressions) {
    if (expression === undefined) {
      results.push(undefined);
      continue;
    }
    const { program } = expression;
    if (program === undefined) {
      results.push({ error: `compilation error: ${expression.error ?? ""}` });
      continue;
    }
    variableCost = 0;
    const { result, cost } = evaluateShared(program, expression.shared ? inputs.shared : undefined, bindings, run);
    if (variableCost > remaining) return OVERSPENT;
    remaining -= variableCost;
    if (cost > remaining) return OVERSPENT;
    remaining -= cost;
    results.push(
      result instanceof CelError
        ? { error: `expression '${expression.source}' resulted in error: ${result.message}` }
        : { value: result as Value },
    );
  }
  return { results, remaining };
}

function evaluateShared(program: Program, shared: SharedResults | undefined, bindings: Bindings, run: Run): Evaluation {
  if (shared === undefined) return run.evaluate(program, bindings);
  let evaluation = shared.get(program);
  if (evaluation === undefined) {
    evaluation = run.evaluate(program, bindings);
    shared.set(program, evaluation);
  }
  return evaluation;
}
