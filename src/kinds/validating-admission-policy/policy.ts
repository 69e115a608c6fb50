/** ValidatingAdmissionPolicies as a {@link Policy}: one, or all of a set together. */

import { kindMistake } from "../../policy/described-review.js";
import type { Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, Policy, PolicyRule } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import { RequestWorld } from "../../world/request-world.js";
import type { World } from "../../world/world.js";
import type { CoveredExpression, WithExpressions } from "../shared/coverage/coverage.js";
import type { Dialect } from "../shared/dialect.js";
import type { Explainable, ExplainedPolicy } from "../shared/explain/explainable.js";
import { Attempt, type AttemptOptions } from "../shared/expressions/attempt.js";
import { NOT_IN_TIME } from "../shared/expressions/interruption.js";
import { Progress } from "../shared/expressions/progress.js";
import { exemption, isOperation, UNKNOWN_OPERATION } from "../shared/match/exempt.js";
import { MatchIndex } from "../shared/match/match-index.js";
import { attributesOf, attributesOfRaw, type RequestAttributes } from "../shared/match/request-attributes.js";
import type { Watcher } from "../shared/watcher.js";
import { expressionsOf } from "./covered-expressions.js";
import { failedWith, type PolicyDecision, skippedBecause } from "./decision.js";
import { evaluatePolicies } from "./evaluate-policies.js";
import { outcomeOf } from "./outcome.js";
import type { PreparedPolicy } from "./prepared-policy.js";

/** How a set is asked. */
export interface PolicySetOptions {
  readonly id: string;
  /** That the policies were compiled in. */
  readonly dialect: Dialect;
  readonly world: World;
  /** Told what becomes of each policy. */
  readonly watcher?: Watcher | undefined;
  /** They match everything, for want of criteria: what they are for is known to whoever registers them. */
  readonly isForAnything?: boolean;
}

/** Policies that are ready to be asked, together. */
export class ValidatingPolicySet implements Policy, WithExpressions, Explainable {
  readonly kind = "cel";
  readonly immediate = true;
  readonly implementation = "ValidatingAdmissionPolicy";
  readonly id: string;
  readonly #policies: readonly PreparedPolicy[];
  readonly #dialect: Dialect;
  readonly #world: World;
  readonly #index: MatchIndex<PreparedPolicy>;
  readonly #watcher: Watcher | undefined;
  readonly #isForAnything: boolean;

  /** @param policies in the order in which they are asked */
  constructor(policies: readonly PreparedPolicy[], { id, dialect, world, watcher, isForAnything }: PolicySetOptions) {
    this.id = id;
    this.#policies = policies;
    this.#dialect = dialect;
    this.#world = world;
    this.#watcher = watcher;
    this.#isForAnything = isForAnything === true;
    this.#index = new MatchIndex(policies, ({ match }) => match);
  }

  get rules(): readonly PolicyRule[] | undefined {
    return this.#isForAnything ? undefined : this.#policies.flatMap(({ match }) => match?.written ?? []);
  }

  *expressions(): Iterable<CoveredExpression> {
    for (const policy of this.#policies) yield* expressionsOf(policy);
  }

  explained(): readonly ExplainedPolicy[] {
    return this.#policies.map((policy) => ({
      title: policy.title,
      variants: [{ part: policy, expressions: [...expressionsOf(policy)] }],
    }));
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const mistaken = kindMistake(review);
    if (mistaken !== undefined) return mistaken;
    const raw = review.kind === "raw";
    const request = raw ? attributesOfRaw(review.payload) : attributesOf(review.request);
    const decision = this.decide(request, context, raw || review.targeted === true);
    return decision instanceof Promise ? decision.then(outcomeOf) : outcomeOf(decision);
  }

  /**
   * What the policies decide.
   * @param targeted rules and selectors are not consulted
   */
  decide(
    request: RequestAttributes,
    context: Pick<EvaluationContext, "deadline" | "signal" | "turns">,
    targeted = false,
  ): PolicyDecision | Promise<PolicyDecision> {
    const world = new RequestWorld(this.#world);
    const { deadline, turns } = context;
    const limit = Number.isFinite(deadline) || turns !== undefined ? { at: deadline, now: this.#world.now } : undefined;
    const circumstances: AttemptOptions = { deadline: limit, turns, progress: new Progress() };
    const first = this.#attempt(request, world, circumstances, targeted);
    // Most requests need no second attempt.
    if (!world.questions.waiting) return first;
    return world.questions.repeat(() => this.#attempt(request, world, circumstances, targeted), context, abandoned);
  }

  #attempt(
    request: RequestAttributes,
    world: RequestWorld,
    circumstances: AttemptOptions,
    targeted: boolean,
  ): PolicyDecision {
    const decision = this.#asked(request, new Attempt(this.#dialect, world, circumstances), targeted);
    const { failure: message, detail } = world;
    const decided = message === undefined ? decision : failedWith({ verdict: "error", message, cause: "unavailable" });
    return detail === undefined ? decided : { ...decided, detail };
  }

  #asked(request: RequestAttributes, attempt: Attempt, targeted: boolean): PolicyDecision {
    if (targeted) return evaluatePolicies(this.#policies, request, attempt, targeted, this.#watcher);
    const { operation, resource, converted } = request;
    const exempt = exemption(resource.group, resource.resource);
    if (exempt !== undefined) return skippedBecause(exempt);
    if (!isOperation(operation)) return failedWith(UNKNOWN_OPERATION);
    const candidates = this.#index.candidates(operation, resource.group, resource.resource, converted?.resource);
    if (candidates.length === 0) return skippedBecause("no resource rule matches");
    return evaluatePolicies(candidates, request, attempt, targeted, this.#watcher);
  }
}

const abandoned = (): PolicyDecision => failedWith(NOT_IN_TIME);
