import type { CelError, Evaluation } from "../../../cel/index.js";
import type { Failure } from "../../../policy/outcome.js";
import type { Expression } from "./expression.js";
import type { LongExpressions, LongHolder } from "./long-expressions.js";
import type { VariablesValue } from "./variables.js";

/** A group of expressions as far as it was evaluated: after a pause it goes on where it was. */
export interface GroupProgress {
  readonly expressions: readonly (Expression | undefined)[];
  /** What tells evaluations of the same expressions for one request apart. */
  readonly about: unknown;
  /** Of those that were evaluated: none of them waits. */
  readonly results: (Evaluation["result"] | undefined)[];
  readonly variables: VariablesValue | undefined;
  /** What variables have cost that the expression which touched them has not paid for yet. */
  owed: number;
  /** What is left of the budget. */
  remaining: number;
  /** The budget ran out. */
  failed: CelError | undefined;
}

/** What the attempts for one request have come to (disposable). */
export class Progress implements LongHolder {
  /**
   * The groups that were evaluated, in the order in which they are asked for; `undefined` until others had their turn for the first time: most requests
   * are answered before, and what was evaluated till then takes a slice to evaluate again.
   */
  groups: GroupProgress[] | undefined = undefined;
  /** What is evaluated in steps; undefined as long as nothing was. */
  long: LongExpressions | undefined = undefined;
  /** Why the request fails, whatever later attempts come to: an expression was stopped, or the deadline has passed. */
  stopped: Failure | undefined;
}
