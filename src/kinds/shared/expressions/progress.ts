import type { CelError, Evaluation } from "../../../cel/index.js";
import type { Failure } from "../../../policy/outcome.js";
import type { Expression } from "./expression.js";
import type { LongExpressions, LongHolder } from "./long-expressions.js";
import type { VariablesValue } from "./variables.js";

/** A group of expressions as far as it was evaluated: after a pause it continues there. */
export interface GroupProgress {
  readonly expressions: readonly (Expression | undefined)[];
  /** Identifies evaluations of the same expressions for one request. */
  readonly about: unknown;
  /** The results so far: none of them waits. */
  readonly results: (Evaluation["result"] | undefined)[];
  readonly variables: VariablesValue | undefined;
  /** The cost of variables that the expression which read them has not been charged for yet. */
  owed: number;
  /** The rest of the budget. */
  remaining: number;
  /** The error when the budget ran out. */
  failed: CelError | undefined;
}

/** The results of the attempts for one request (disposable). */
export class Progress implements LongHolder {
  /**
   * The evaluated groups, in order of evaluation; `undefined` until others had their turn for the first time: most requests
   * are answered before, and repeating the work until then takes one slice.
   */
  groups: GroupProgress[] | undefined = undefined;
  /** The evaluations in steps; undefined until there is one. */
  long: LongExpressions | undefined = undefined;
  /** Why the request fails, whatever the later attempts: an expression was stopped, or the deadline has passed. */
  stopped: Failure | undefined;
}
