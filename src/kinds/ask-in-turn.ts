/** Policies that change the object and policies that judge it in one entry: as in a cluster, what is judged is what the changes have left. */

import { printedOnce } from "../data/printed-once.js";
import { evaluateInTime } from "../policy/evaluate-in-time.js";
import { EvaluationRun } from "../policy/evaluation-run.js";
import type { EvaluationContext, Failure, Mutation, Outcome, Policy, Review } from "../policy/index.js";
import { askTogether, mostSevere } from "./ask-together.js";

/**
 * Several policies as one. Where those that mutate say anything but yes, that is the answer, and nobody else is asked.
 * @param mutating are asked first, at least one
 * @param judging are asked about the object that those leave, at least one
 * @param now monotonic milliseconds
 */
export function askInTurn(
  id: string,
  mutating: readonly Policy[],
  judging: readonly Policy[],
  now: () => number,
): Policy {
  const all = askTogether(id, [...mutating, ...judging], now);
  const first = askTogether(id, mutating, now);
  const then = askTogether(id, judging, now);
  const goOn = (review: Review, context: EvaluationContext, left: Outcome): Outcome | Promise<Outcome> => {
    if (left.verdict === "error" || left.verdict === "deny") return left;
    const mutation = left.verdict === "allow" ? left.mutation : undefined;
    const about = mutation === undefined ? review : mutated(review, mutation);
    if ("verdict" in about) return about;
    const judged = evaluateInTime(then, about, EvaluationRun.within(context, context.deadline), now);
    return judged instanceof Promise
      ? judged.then((outcome) => mostSevere([left, outcome]))
      : mostSevere([left, judged]);
  };
  return {
    ...all,
    evaluate(review: Review, context: EvaluationContext) {
      const left = evaluateInTime(first, review, EvaluationRun.within(context, context.deadline), now);
      return left instanceof Promise
        ? left.then((outcome) => goOn(review, context, outcome))
        : goOn(review, context, left);
    },
  };
}

/** The same question about the object that a mutation leaves. */
function mutated(review: Review, mutation: Mutation): Review | Failure {
  if (mutation.kind !== "patch" || mutation.changed === undefined) return UNKNOWN;
  const { object } = mutation.changed;
  if (review.kind === "raw") return { ...review, payload: object, requestBytes: printedOnce(object) };
  const request = { ...review.request, object };
  return { ...review, request, requestBytes: printedOnce(request) };
}

/** What nobody can judge is no yes. */
const UNKNOWN: Failure = {
  verdict: "error",
  message: "what a policy makes of the object is not known to those that judge it",
  cause: "mutation",
};
