/** Short ways for tests to ask policies. */
import assert from "node:assert/strict";
import type { EvaluationContext, Outcome, Policy } from "../../src/policy/index.js";
import type { Review } from "../../src/policy/review.js";
import type { Evaluator } from "../../src/policy/served/evaluator.js";
import type { RequestOrigin, Verdict } from "../../src/policy/served/verdict.js";

/** The outcome of a policy that need not wait. */
export function answerOf(policy: Policy | undefined, review: Review, context: EvaluationContext): Outcome {
  const outcome = policy?.evaluate(review, context);
  assert.ok(outcome !== undefined && !(outcome instanceof Promise), "the policy waits, or there is none");
  return outcome;
}

/** Whether a policy has to wait for its answer. */
export const waits = (policy: Policy, review: Review, context: EvaluationContext): boolean =>
  policy.evaluate(review, context) instanceof Promise;

/** What an evaluator answers for the policy of an id. */
export function ask(
  evaluator: Evaluator,
  id: string,
  review: Review,
  origin: RequestOrigin,
  deadline?: number,
  whenGone?: (abandon: () => void) => void,
): Verdict | Promise<Verdict> {
  const policy = evaluator.policies.entries.get(id);
  assert.ok(policy !== undefined, `there is no policy ${id}`);
  return evaluator.evaluate(policy, {
    review,
    origin,
    ...(deadline !== undefined && { deadline }),
    ...(whenGone !== undefined && { whenGone }),
  });
}
