/** Evaluations that ended because time was up. */
import { CelError, type EvaluationOptions } from "../../cel/index.js";
import type { Failure } from "../../policy/outcome.js";
import { EXPRESSION_STRETCH_MS } from "../../policy/turns.js";

/** The outcome of a policy whose evaluation was interrupted, or whose questions were not answered while somebody waited. */
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

/** Why an evaluation was interrupted. */
export const interruptionOf = (deadline: EvaluationOptions["deadline"]): Failure =>
  deadline !== undefined && deadline.now() <= deadline.at ? HELD_TOO_LONG : NOT_IN_TIME;

/** Whether a result is no result, but says that the deadline passed. */
export const isInterrupted = (result: unknown): boolean => result instanceof CelError && result.code === "interrupted";
