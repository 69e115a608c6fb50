/**
 * Evaluates policies of a set within their time, and turns outcomes into answers (spec kubewarden.md 4). Policies that can answer at once do so: no
 * promise stands between a request and a CEL policy.
 */

import { ABANDONED, BROKEN, evaluateInTime, inTime, type WhenGone } from "../evaluate-in-time.js";
import { EvaluationRun } from "../evaluation-run.js";
import type { Outcome } from "../outcome.js";
import type { Review } from "../review.js";
import { SLICE_MS, Turns } from "../turns.js";
import { type JoinedVerdict, joinVerdicts } from "./joined-verdict.js";
import type { PolicySet, ServedPolicy } from "./policy-set.js";
import type { ServedSet } from "./served-set.js";
import { ShadowQueue } from "./shadow/queue.js";
import type { ShadowResult } from "./shadow/tally.js";
import { answering } from "./shadow/versions.js";
import { decide, type RequestOrigin, uidOf, type Verdict } from "./verdict.js";

/** Options of an evaluator. */
export interface EvaluatorOptions {
  /** Milliseconds an evaluation may take when its entry says nothing; Infinity switches the limit off. */
  readonly policyTimeout: number;
  /** Admission requests in this namespace are accepted without evaluation (spec kubewarden.md 4.6). */
  readonly alwaysAcceptNamespace?: string;
  /** Monotonic milliseconds; default `performance.now`. */
  readonly now?: () => number;
  /** Called when a policy breaks its contract by throwing or rejecting: a defect, to be logged. The request is denied. */
  readonly onDefect?: (policy: string, error: unknown) => void;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly wall?: () => number;
  /** Receives each compared answer of a version in shadow, and each that was skipped. */
  readonly onShadow?: (policy: string, result: ShadowResult) => void;
}

/** A question to a policy. */
export interface Asked {
  readonly review: Review;
  readonly origin: RequestOrigin;
  /** Monotonic milliseconds at which the client stops waiting; default never. */
  readonly deadline?: number;
  /** Registers a callback for a client that goes before it has an answer; used only when the answer takes a while. */
  readonly whenGone?: WhenGone;
  /** Size of the review's body; default 0. */
  readonly bytes?: number;
}

/** Evaluates policies. */
export interface Evaluator {
  /** The set in use. A request looks its policy up once, and finishes with the one it found. */
  readonly policies: PolicySet;
  /** Turns on the main thread, for other steps of a request, too. */
  readonly turns: Turns;
  /** Evaluates versions in shadow, and counts their answers. */
  readonly shadows: ShadowQueue;
  /** Swaps the whole set. */
  use(policies: PolicySet): void;
  /** Evaluates the version that is in force for a review. Never throws or rejects: failures of policies are denials. */
  evaluate(policy: ServedPolicy, asked: Asked): Verdict | Promise<Verdict>;
  /** Evaluates all policies of a set, each within its own time, and joins their answers. As `evaluate`. */
  evaluateSet(set: ServedSet, asked: Asked): JoinedVerdict | Promise<JoinedVerdict>;
  /** The verdict as it counts when it is sent now: it may have waited behind others since it was reached, and is a time-out after its deadline. */
  whenSent(verdict: Verdict, asked: Pick<Asked, "review" | "origin">): Verdict;
  /** The same for a set: its policies wait for each other, and an answer that came within a policy's own time counts until the client stops waiting. */
  setWhenSent(verdict: JoinedVerdict, asked: Pick<Asked, "review" | "origin">): JoinedVerdict;
}

/** Creates an evaluator of a set of policies. */
export function createEvaluator(policies: PolicySet, options: EvaluatorOptions): Evaluator {
  return new SetEvaluator(policies, options);
}

class SetEvaluator implements Evaluator {
  policies: PolicySet;
  readonly #timeout: number;
  readonly #acceptedNamespace: string | undefined;
  readonly #now: () => number;
  readonly #onDefect: (policy: string, error: unknown) => void;
  readonly turns = new Turns();
  readonly shadows: ShadowQueue;

  constructor(policies: PolicySet, options: EvaluatorOptions) {
    const { policyTimeout, alwaysAcceptNamespace, now, onDefect } = options;
    this.policies = policies;
    this.#timeout = policyTimeout;
    this.#acceptedNamespace = alwaysAcceptNamespace;
    this.#now = now ?? (() => performance.now());
    this.#onDefect = onDefect ?? (() => {});
    this.shadows = new ShadowQueue({
      policyTimeout,
      now: this.#now,
      wall: options.wall ?? (() => Date.now()),
      turns: this.turns,
      onDefect: this.#onDefect,
      onResult: options.onShadow ?? (() => {}),
    });
    this.shadows.follow(policies);
  }

  use(policies: PolicySet): void {
    this.policies = policies;
    this.shadows.follow(policies);
  }

  evaluate(policy: ServedPolicy, asked: Asked): Verdict | Promise<Verdict> {
    const started = this.#now();
    if (this.#acceptsUnseen(asked.review)) return accepted(policy, asked.review);
    const entry = answering(policy, asked.review);
    const limit = started + (entry.timeout ?? this.#timeout);
    const run = new EvaluationRun(
      Math.min(limit, asked.deadline ?? Number.POSITIVE_INFINITY),
      this.#onDefect,
      this.turns,
    );
    const outcome = evaluateInTime(entry.policy, asked.review, run, this.#now, asked.whenGone);
    return outcome instanceof Promise
      ? outcome.then((settled) => this.#settled(entry, asked, run, started, limit, settled))
      : this.#settled(entry, asked, run, started, limit, outcome);
  }

  /** @param limit the end of the policy's own time */
  #settled(
    entry: ServedPolicy,
    asked: Asked,
    run: EvaluationRun,
    started: number,
    limit: number,
    outcome: Outcome,
  ): Verdict {
    const told = outcome.verdict === "error" && outcome.cause === "timeout" && outcome.detail === undefined;
    const detailed = told
      ? { ...outcome, detail: this.#limitOf(entry, limit - started, run.deadline < limit) }
      : outcome;
    const verdict = this.#conclude(entry, asked, run, started, detailed);
    // The audit scanner sends the same objects again and again.
    if (entry.shadow !== undefined && asked.origin !== "audit") {
      const { review, origin, bytes = 0 } = asked;
      this.shadows.offer(entry.shadow, { review, origin, verdict, bytes });
    }
    return verdict;
  }

  evaluateSet(set: ServedSet, asked: Asked): JoinedVerdict | Promise<JoinedVerdict> {
    const started = this.#now();
    const client = new SetClient(asked);
    const verdicts: (Verdict | Promise<Verdict>)[] = [];
    let waits = false;
    const ask = (entry: ServedPolicy): void => {
      const verdict = client.isGone ? this.#abandoned(entry, asked) : this.evaluate(entry, client.asked);
      waits ||= verdict instanceof Promise;
      verdicts.push(verdict);
    };
    const join = (settled: readonly Verdict[]): JoinedVerdict =>
      joinVerdicts(set, uidOf(asked.review), settled, {
        milliseconds: this.#now() - started,
        deadline: asked.deadline ?? Number.POSITIVE_INFINITY,
      });
    // Together they may take long: after a slice they wait for their turns.
    const ends = started + SLICE_MS;
    for (const [i, entry] of set.members.entries()) {
      if (i > 0 && this.#now() >= ends) {
        client.watch();
        return this.#inTurns(set.members.slice(i), ask).then(() => Promise.all(verdicts).then(join));
      }
      ask(entry);
    }
    return waits ? Promise.all(verdicts).then(join) : join(verdicts as readonly Verdict[]);
  }

  async #inTurns(members: readonly ServedPolicy[], ask: (entry: ServedPolicy) => void): Promise<void> {
    let ends = Number.NEGATIVE_INFINITY;
    for (const entry of members) {
      if (this.#now() >= ends) {
        await this.turns.next();
        ends = this.#now() + SLICE_MS;
      }
      ask(entry);
    }
  }

  #abandoned(entry: ServedPolicy, { review, origin }: Asked): Verdict {
    return decide(entry, review, ABANDONED, origin, {
      milliseconds: 0,
      observations: [],
      deadline: Number.POSITIVE_INFINITY,
    });
  }

  whenSent(verdict: Verdict, { review, origin }: Pick<Asked, "review" | "origin">): Verdict {
    const outcome = inTime(verdict.outcome, verdict.deadline, this.#now());
    return outcome === verdict.outcome ? verdict : decide(verdict.entry, review, outcome, origin, verdict);
  }

  setWhenSent(verdict: JoinedVerdict, asked: Pick<Asked, "review" | "origin">): JoinedVerdict {
    const { set, members, milliseconds, deadline } = verdict;
    if (this.#now() <= deadline) return verdict;
    const late = members.map((member) => this.whenSent({ ...member, deadline }, asked));
    return joinVerdicts(set, uidOf(asked.review), late, { milliseconds, deadline });
  }

  /** The time limit of a policy and its origin, for the log and the command line. */
  #limitOf({ timeout }: ServedPolicy, milliseconds: number, isCallers: boolean): string {
    if (isCallers) return "the time that the caller gave was up (timeout in the request's address)";
    const setter =
      timeout === undefined
        ? "--policy-timeout"
        : timeout === this.#timeout
          ? "--policy-timeout, or timeoutEvalSeconds as long as that"
          : "timeoutEvalSeconds, of the entry or of its members together";
    return `the limit is ${Math.round(milliseconds) / 1000} s, set by ${setter}`;
  }

  #acceptsUnseen(review: Review): boolean {
    return (
      this.#acceptedNamespace !== undefined &&
      review.kind === "admission" &&
      review.request.namespace === this.#acceptedNamespace
    );
  }

  #conclude(
    entry: ServedPolicy,
    { review, origin }: Asked,
    run: EvaluationRun,
    started: number,
    outcome: Outcome,
  ): Verdict {
    const milliseconds = (run.ended ?? this.#now()) - started;
    const measured = { milliseconds, observations: run.observations, deadline: run.deadline };
    try {
      return decide(entry, review, outcome, origin, measured);
    } catch (error) {
      // An outcome that can't be turned into an answer, such as a mutation that can't be printed.
      this.#onDefect(entry.id, error);
      return decide(entry, review, BROKEN, origin, measured);
    }
  }
}

/** The client of policies that are evaluated together: when it goes, all evaluations are aborted (disposable). */
class SetClient {
  isGone = false;
  /** The question to each policy. */
  readonly asked: Asked;
  readonly #whenGone: Asked["whenGone"];
  readonly #abandons: (() => void)[] = [];
  #isWatched = false;

  constructor(asked: Asked) {
    const { whenGone } = asked;
    this.#whenGone = whenGone;
    const keep = (abandon: () => void): void => {
      this.watch();
      this.#abandons.push(abandon);
    };
    this.asked = whenGone === undefined ? asked : { ...asked, whenGone: keep };
  }

  /** Called only when the answer takes a while. */
  watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#whenGone?.(() => {
      this.isGone = true;
      for (const abandon of this.#abandons) abandon();
    });
  }
}

function accepted(entry: ServedPolicy, review: Review): Verdict {
  const response = { uid: uidOf(review), allowed: true };
  return {
    entry,
    outcome: { verdict: "allow" },
    vanilla: response,
    response,
    milliseconds: 0,
    observations: [],
    deadline: Number.POSITIVE_INFINITY,
  };
}
