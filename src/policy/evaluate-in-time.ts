/**
 * Evaluates a policy within its time, and turns whatever it does into an outcome; every evaluation goes through here. An answer after the deadline is
 * a time-out; a throw or a rejection is a failure. Neither can become an acceptance.
 */
import type { EvaluationRun } from "./evaluation-run.js";
import type { Failure, Outcome } from "./outcome.js";
import type { Policy } from "./policy.js";
import type { Review } from "./review.js";

/** Time that a policy's own time-out may be late before ours replaces it: its message says more than ours. */
export const DEADLINE_GRACE_MS = 50;
/** The longest delay a timer takes (2^31 - 1 ms); a later deadline is treated as none. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** The outcome of an evaluation whose deadline has passed. */
export const TIMED_OUT: Failure = {
  verdict: "error",
  message: "Policy execution interrupted because it exceeded the allowed execution time",
  cause: "timeout",
};

/** The outcome of a policy that threw or rejected: the reason is logged, not sent to the client. */
export const BROKEN: Failure = {
  verdict: "error",
  message: "internal server error: the policy failed unexpectedly",
  cause: "internal",
};

/** The code that some proxies answer for a client that has gone; only logs and metrics show it. */
export const CLIENT_GONE = 499;

/** The outcome for a client that has gone. Final: not even monitor mode turns it into an acceptance. */
export const ABANDONED: Failure = {
  verdict: "error",
  message: "the client closed the connection before it had an answer",
  code: CLIENT_GONE,
  cause: "abandoned",
  final: true,
};

/** Registers a callback for a client that goes before it has an answer. */
export type WhenGone = (abandon: () => void) => void;

/**
 * Evaluates a policy. Never throws or rejects.
 * @param now monotonic milliseconds
 * @param whenGone called only when the evaluation waits
 */
export function evaluateInTime(
  policy: Policy,
  review: Review,
  run: EvaluationRun,
  now: () => number,
  whenGone?: WhenGone,
): Outcome | Promise<Outcome> {
  let outcome: Outcome | Promise<Outcome>;
  try {
    outcome = policy.evaluate(review, run);
  } catch (error) {
    run.onDefect(policy.id, error);
    return BROKEN;
  }
  return outcome instanceof Promise
    ? waitFor(policy.id, outcome, run, now, whenGone)
    : settled(policy.id, outcome, run, now);
}

/** The outcome as it counts when it arrives. */
function settled(id: string, outcome: Outcome, run: EvaluationRun, now: () => number): Outcome {
  if (isOutcome(outcome)) {
    run.ended = now();
    return inTime(outcome, run.deadline, run.ended);
  }
  run.onDefect(id, new TypeError("what the policy answered is not an outcome"));
  return BROKEN;
}

/** Types keep policies from returning anything else, but a defect could: a value that is neither yes nor no could be taken for both. */
function isOutcome(outcome: Outcome | null | undefined): boolean {
  switch (outcome?.verdict) {
    case "allow":
    case "deny":
    case "error":
    case "skip":
      return true;
    default:
      return false;
  }
}

/**
 * A time-out in place of a late outcome; a policy's own message about its time-out is kept.
 * @param deadline monotonic milliseconds, as is `at`, the time of the check
 */
export function inTime(outcome: Outcome, deadline: number, at: number): Outcome {
  if (at <= deadline) return outcome;
  const told = outcome.verdict === "error" && (outcome.final === true || TOLD_LATE.has(outcome.cause));
  return told ? outcome : TIMED_OUT;
}

/** Failures about time, and those that even monitor mode must not pass: they are reported also when they are late. */
const TOLD_LATE: ReadonlySet<Failure["cause"]> = new Set<Failure["cause"]>(["timeout", "abandoned", "overload"]);

/** The policy's outcome, or a time-out shortly after its deadline. */
function waitFor(
  id: string,
  pending: Promise<Outcome>,
  run: EvaluationRun,
  now: () => number,
  whenGone: WhenGone | undefined,
): Promise<Outcome> {
  const left = run.deadline - now() + DEADLINE_GRACE_MS;
  return new Promise((resolve) => {
    const settle = (outcome: Outcome): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const giveUp = (failure: Failure): void => {
      run.abort();
      settle(failure);
    };
    const timer = left > LONGEST_TIMER_MS ? undefined : setTimeout(() => giveUp(TIMED_OUT), left);
    whenGone?.(() => giveUp(ABANDONED));
    pending.then(
      (outcome) => settle(settled(id, outcome, run, now)),
      (error: unknown) => {
        run.onDefect(id, error);
        settle(BROKEN);
      },
    );
  });
}
