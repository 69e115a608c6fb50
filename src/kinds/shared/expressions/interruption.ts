/** Evaluations that ended because time was up. */
import type { CelError, EvaluationOptions } from "../../../cel/index.js";
import type { Failure } from "../../../policy/outcome.js";
import { EXPRESSION_STRETCH_MS } from "../../../policy/turns.js";

/** The outcome of a policy whose evaluation was interrupted, or whose questions were not answered in time. */
export const NOT_IN_TIME: Failure = {
  verdict: "error",
  message: "the policy did not answer in time",
  cause: "timeout",
};

/** The outcome of a policy of which one expression has held the thread for longer than it may. */
const HELD_TOO_LONG: Failure = {
  verdict: "error",
  message: `an expression of the policy was stopped: it took longer than ${EXPRESSION_STRETCH_MS} ms, while other requests wait`,
  cause: "timeout",
};

/** The outcome of a policy whose expression, or search for pods, makes or reads more than the engine allows: the reference may have judged it. */
export const TOO_LARGE: Failure = {
  verdict: "error",
  message: "an expression of the policy was stopped: it makes or reads a text, a list or a pattern that is too large",
  cause: "timeout",
};

/**
 * The outcome of a policy whose expression has this error; `undefined` when it is one of the expression's own, which the policy may ignore. An expression
 * that was stopped by us has no result: ignoring it would let pass what the reference denies.
 */
export function interruptionOf({ code }: CelError, deadline: EvaluationOptions["deadline"]): Failure | undefined {
  if (code === "too-large") return TOO_LARGE;
  if (code !== "interrupted") return undefined;
  return deadline !== undefined && deadline.now() <= deadline.at ? HELD_TOO_LONG : NOT_IN_TIME;
}
