/** Evaluations that ended because time was up. */
import { CelError } from "../../cel/index.js";
import type { Failure } from "../../policy/outcome.js";

/** The outcome of a policy whose evaluation was interrupted, or whose questions were not answered while somebody waited. */
export const NOT_IN_TIME: Failure = {
  verdict: "error",
  message: "the policy did not answer in time",
  cause: "timeout",
};

/** Whether a result is no result, but says that the deadline passed. */
export const isInterrupted = (result: unknown): boolean => result instanceof CelError && result.code === "interrupted";
