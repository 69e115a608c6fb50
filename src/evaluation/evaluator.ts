/**
 * The set of policies and one `evaluate`: find the policy, run it within its deadline, and turn its outcome into an answer (spec kubewarden.md 4).
 * Policies that can answer at once are answered at once: no promise stands between a request and a CEL policy.
 */
import type { Failure, Outcome } from "../policy/outcome.js";
import type { Observation, Policy, SynchronousPolicy } from "../policy/policy.js";
import type { Review } from "../policy/review.js";
import { EvaluationRun } from "./evaluation-run.js";
import type { PolicyEntry, PolicySet } from "./policy-set.js";
import { decide, type Origin, uidOf, type Verdict } from "./verdict.js";

/** How long a policy's own time-out may be late before the evaluator answers in its place: its message says more than ours. */
export const DEADLINE_GRACE_MS = 50;
/** The longest delay a timer takes (2^31 - 1 ms); a later deadline is as good as none. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** What an evaluator needs besides the policies. */
export interface EvaluatorOptions {
  /** Milliseconds an evaluation may take when its entry says nothing; Infinity switches the limit off. */
  readonly policyTimeout: number;
  /** Admission requests in this namespace are accepted unseen (spec kubewarden.md 4.6). */
  readonly alwaysAcceptNamespace?: string;
  /** Monotonic milliseconds; default `performance.now`. */
  readonly now?: () => number;
  /** Told when a policy breaks its contract by throwing or rejecting: a defect, to be logged. The request is denied. */
  readonly onDefect?: (policy: string, error: unknown) => void;
}

/** A verdict with its times. */
export interface Evaluation extends Verdict {
  /** Milliseconds from call to outcome. */
  readonly milliseconds: number;
  /** Members of groups that were evaluated. */
  readonly observations: readonly Observation[];
}

/** Asks policies. */
export interface Evaluator {
  /** The set that answers now. Requests under way finish on the set they began with. */
  readonly policies: PolicySet;
  /** Swaps the whole set. */
  use(policies: PolicySet): void;
  /**
   * Answers a review; undefined when no policy has this id. Never throws and never rejects: failures of policies are denials.
   * @param callerDeadline monotonic milliseconds at which the client stops waiting
   * @param whenGone takes what to call when the client goes before it has an answer; only asked when the answer takes a while
   */
  evaluate(
    id: string,
    review: Review,
    origin: Origin,
    callerDeadline?: number,
    whenGone?: (abandon: () => void) => void,
  ): Evaluation | Promise<Evaluation> | undefined;
}

/** An evaluator over a set of policies. */
export function createEvaluator(policies: PolicySet, options: EvaluatorOptions): Evaluator {
  return new SetEvaluator(policies, options);
}

class SetEvaluator implements Evaluator {
  policies: PolicySet;
  readonly #timeout: number;
  readonly #acceptedNamespace: string | undefined;
  readonly #now: () => number;
  readonly #onDefect: (policy: string, error: unknown) => void;

  constructor(policies: PolicySet, { policyTimeout, alwaysAcceptNamespace, now, onDefect }: EvaluatorOptions) {
    this.policies = policies;
    this.#timeout = policyTimeout;
    this.#acceptedNamespace = alwaysAcceptNamespace;
    this.#now = now ?? (() => performance.now());
    this.#onDefect = onDefect ?? (() => {});
  }

  use(policies: PolicySet): void {
    this.policies = policies;
  }

  evaluate(
    id: string,
    review: Review,
    origin: Origin,
    callerDeadline = Number.POSITIVE_INFINITY,
    whenGone: (abandon: () => void) => void = () => {},
  ): Evaluation | Promise<Evaluation> | undefined {
    const entry = this.policies.entries.get(id);
    if (entry === undefined) return undefined;
    const started = this.#now();
    if (this.#acceptsUnseen(review)) return accepted(entry, review);
    const run = new EvaluationRun(Math.min(started + (entry.timeout ?? this.#timeout), callerDeadline));
    const outcome = this.#run(entry.policy, review, run);
    return outcome instanceof Promise
      ? this.#waitFor(outcome, run, id, whenGone).then((settled) =>
          this.#conclude(entry, review, origin, run, started, settled),
        )
      : this.#conclude(entry, review, origin, run, started, outcome);
  }

  #acceptsUnseen(review: Review): boolean {
    return (
      this.#acceptedNamespace !== undefined &&
      review.kind === "admission" &&
      review.request.namespace === this.#acceptedNamespace
    );
  }

  #conclude(
    entry: PolicyEntry,
    review: Review,
    origin: Origin,
    run: EvaluationRun,
    started: number,
    outcome: Outcome,
  ): Evaluation {
    const verdict = this.#decide(entry, review, origin, outcome);
    const milliseconds = this.#now() - started;
    const { vanilla, response } = verdict;
    return { entry, outcome: verdict.outcome, vanilla, response, milliseconds, observations: run.observations };
  }

  #decide(entry: PolicyEntry, review: Review, origin: Origin, outcome: Outcome): Verdict {
    try {
      return decide(entry, review, outcome, origin);
    } catch (error) {
      // An outcome that can't be turned into an answer, such as a mutation that can't be printed.
      return decide(entry, review, this.#broken(entry.id, error), origin);
    }
  }

  #run(policy: Policy | SynchronousPolicy, review: Review, run: EvaluationRun): Outcome | Promise<Outcome> {
    try {
      const outcome = "evaluateNow" in policy ? policy.evaluateNow(review, run) : undefined;
      return outcome ?? policy.evaluate(review, run);
    } catch (error) {
      return this.#broken(policy.id, error);
    }
  }

  /** Policies never throw by contract; one that does must not take the server down, nor allow anything. */
  #broken(policy: string, error: unknown): Failure {
    this.#onDefect(policy, error);
    return BROKEN;
  }

  /** The policy's outcome, a time-out shortly after its deadline, or none when the client goes before. */
  #waitFor(
    pending: Promise<Outcome>,
    run: EvaluationRun,
    id: string,
    whenGone: (abandon: () => void) => void,
  ): Promise<Outcome> {
    const left = run.deadline - this.#now() + DEADLINE_GRACE_MS;
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
      whenGone(() => giveUp(ABANDONED));
      pending.then(settle, (error: unknown) => settle(this.#broken(id, error)));
    });
  }
}

const BROKEN: Failure = {
  verdict: "error",
  message: "internal server error: the policy failed unexpectedly",
  cause: "internal",
};

const TIMED_OUT: Failure = {
  verdict: "error",
  message: "Policy execution interrupted because it exceeded the allowed execution time",
  cause: "timeout",
};

/** What some proxies answer for a client that has gone; nobody gets to see it but those who read logs and metrics. */
export const CLIENT_GONE = 499;

/** Final: not even monitor mode turns it into an acceptance. */
const ABANDONED: Failure = {
  verdict: "error",
  message: "the client closed the connection before it had an answer",
  code: CLIENT_GONE,
  cause: "abandoned",
  final: true,
};

function accepted(entry: PolicyEntry, review: Review): Evaluation {
  const response = { uid: uidOf(review), allowed: true };
  return {
    entry,
    outcome: { verdict: "allow" },
    vanilla: response,
    response,
    milliseconds: 0,
    observations: [],
  };
}
