/** ValidatingAdmissionPolicies as a {@link Policy}: one, or all of a set together. */

import type { CoveredExpression } from "../../cel-policy/coverage/coverage.js";
import type { AuthorizationAnswers } from "../../cel-policy/expressions/authorization.js";
import { exemption } from "../../cel-policy/match/exempt.js";
import { MatchIndex } from "../../cel-policy/match/match-index.js";
import { attributesOf, attributesOfRaw, type RequestAttributes } from "../../cel-policy/match/request-attributes.js";
import type { Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, Policy } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import type { Authorizer } from "../../world/authorizer/authorizer.js";
import type { ResourceSource } from "../../world/resources/resource-source.js";
import { expressionsOf } from "./expressions.js";
import { type JudgeResult, judge } from "./judge.js";
import type { Judgement } from "./judgement.js";
import { outcomeOf } from "./outcome.js";
import type { PreparedPolicy } from "./prepared-policy.js";

/** How often a request is judged again because something had to be fetched; every round learns at least one answer. */
const MAX_ROUNDS = 100;

/** What a policy asks besides the request. */
export interface World {
  readonly source: ResourceSource;
  readonly authorizer: Authorizer;
  /** Monotonic milliseconds, the clock of deadlines. */
  readonly now: () => number;
}

/** Policies that are ready to be asked, together. */
export class ValidatingPolicySet implements Policy {
  readonly kind = "cel";
  readonly immediate = true;
  readonly implementation = "ValidatingAdmissionPolicy";
  private readonly index: MatchIndex<PreparedPolicy>;

  /** @param policies in the order in which they are asked */
  constructor(
    readonly id: string,
    private readonly policies: readonly PreparedPolicy[],
    private readonly world: World,
  ) {
    this.index = new MatchIndex(policies, ({ match }) => match);
  }

  /** Every expression, and where it stands: for coverage. */
  *expressions(): Iterable<CoveredExpression> {
    for (const policy of this.policies) yield* expressionsOf(policy);
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const answers: AuthorizationAnswers = new Map();
    const first = this.judge(review, answers, context.deadline);
    return "awaited" in first ? this.wait(review, context, answers) : outcome(first);
  }

  private async wait(review: Review, context: EvaluationContext, answers: AuthorizationAnswers): Promise<Outcome> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = this.judge(review, answers, context.deadline);
      if (!("awaited" in result)) return outcome(result);
      if (!(await settled(result.awaited, context.signal))) return TIMED_OUT;
    }
    return { verdict: "error", message: "what the policy asked for did not arrive", cause: "unavailable" };
  }

  /** Judges a request in the words of the API server itself; what has to be awaited counts as not there. */
  judgeNative(request: RequestAttributes): Judgement | undefined {
    const result = this.judgeAttributes(request, new Map(), Number.POSITIVE_INFINITY, false);
    return "judgement" in result ? result.judgement : undefined;
  }

  private judge(review: Review, answers: AuthorizationAnswers, deadline: number): JudgeResult {
    const raw = review.kind === "raw";
    const request = raw ? attributesOfRaw(review.payload) : attributesOf(review.request);
    return this.judgeAttributes(request, answers, deadline, raw || review.targeted === true);
  }

  private judgeAttributes(
    request: RequestAttributes,
    answers: AuthorizationAnswers,
    deadline: number,
    targeted: boolean,
  ): JudgeResult {
    const { source, authorizer, now } = this.world;
    const { operation, resource } = request;
    const exempt = targeted ? undefined : exemption(operation, resource.group, resource.resource);
    if (exempt !== undefined) return { judgement: { ...EMPTY, traces: [{ policy: "", skipped: exempt }] } };
    const options = {
      source,
      authorizer,
      answers,
      targeted,
      deadline: Number.isFinite(deadline) ? { at: deadline, now } : undefined,
    };
    if (targeted) return judge(this.policies, request, options);
    const candidates = this.index.candidates(operation, resource.group, resource.resource);
    if (candidates.length > 0) return judge(candidates, request, options);
    return { judgement: { ...EMPTY, traces: [{ policy: "", skipped: "no resource rule matches" }] } };
  }
}

const EMPTY: Judgement = {
  denials: [],
  warnings: [],
  failures: [],
  annotations: [],
  traces: [],
  failure: undefined,
};

const TIMED_OUT: Outcome = { verdict: "error", message: "the policy did not answer in time", cause: "timeout" };

const outcome = (result: Exclude<JudgeResult, { awaited: unknown }>): Outcome =>
  "interrupted" in result ? TIMED_OUT : outcomeOf(result.judgement);

/** Waits for all; false when the caller has gone first. */
function settled(awaited: readonly Promise<unknown>[], signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = (): void => resolve(false);
    if (signal.aborted) gone();
    signal.addEventListener("abort", gone, { once: true });
    void Promise.allSettled(awaited).then(() => {
      signal.removeEventListener("abort", gone);
      resolve(true);
    });
  });
}
