/** MutatingAdmissionPolicies as a {@link Policy}: one, or all of a set together. */

import { parseApiVersion } from "../../kubernetes/names.js";
import { text } from "../../kubernetes/object.js";
import { kindMistake } from "../../policy/described-review.js";
import type { Failure, Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, Policy } from "../../policy/policy.js";
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
import { failedWith, type MutatingDecision, skippedBecause } from "./decision.js";
import { evaluatePolicies } from "./evaluate-policies.js";
import type { FindTypes } from "./merge-types.js";
import { changesOf, outcomeOf } from "./outcome.js";
import type { PreparedPolicy } from "./prepared-policy.js";
import { RequestState } from "./request-state.js";

/** How a set is asked. */
export interface PolicySetOptions {
  readonly id: string;
  /** That the policies were compiled in, but for their mutations. */
  readonly dialect: Dialect;
  readonly world: World;
  readonly findTypes: FindTypes;
  /** Objects of built-in kinds are what Go's structs keep of them, as inside of the API server. */
  readonly typed: boolean;
  /** Told what becomes of each policy. */
  readonly watcher?: Watcher | undefined;
}

/** Policies that are ready to be asked, together. */
export class MutatingPolicySet implements Policy, WithExpressions, Explainable {
  readonly kind = "cel";
  readonly immediate = true;
  readonly implementation = "MutatingAdmissionPolicy";
  readonly id: string;
  readonly #policies: readonly PreparedPolicy[];
  readonly #options: PolicySetOptions;
  readonly #index: MatchIndex<PreparedPolicy>;

  /** @param policies in the order in which they are asked */
  constructor(policies: readonly PreparedPolicy[], options: PolicySetOptions) {
    this.id = options.id;
    this.#policies = policies;
    this.#options = options;
    this.#index = new MatchIndex(policies, ({ match }) => match);
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
    const request = raw ? rawRequest(review.payload) : attributesOf(review.request);
    const decision = this.decide(request, context, raw || review.targeted === true);
    const { object } = request;
    if (!(decision instanceof Promise)) return outcomeOf(decision, changesOf(decision, object));
    // Who took long so far has a long answer, too: others have their turn before each half of it.
    const { turns } = context;
    return decision.then(async (decided) => {
      await turns?.next();
      const changes = changesOf(decided, object);
      await turns?.next();
      return outcomeOf(decided, changes);
    });
  }

  /**
   * What the policies make of the object.
   * @param targeted rules and selectors are not consulted
   */
  decide(
    request: RequestAttributes,
    context: Pick<EvaluationContext, "deadline" | "signal" | "turns">,
    targeted = false,
  ): MutatingDecision | Promise<MutatingDecision> {
    const { world: outer, dialect } = this.#options;
    const world = new RequestWorld(outer);
    const { deadline, turns } = context;
    const limit = Number.isFinite(deadline) || turns !== undefined ? { at: deadline, now: outer.now } : undefined;
    const circumstances: AttemptOptions = { deadline: limit, turns, begun: limit?.now(), progress: new Progress() };
    const state = new RequestState(world);
    const attempt = (): MutatingDecision => {
      const decision = this.#attempt(request, new Attempt(dialect, world, circumstances), state, targeted);
      const { failure: message, detail } = world;
      const decided =
        message === undefined ? decision : failedWith({ verdict: "error", message, cause: "unavailable" });
      return detail === undefined ? decided : { ...decided, detail };
    };
    return world.questions.settle(attempt, context, abandoned);
  }

  #attempt(request: RequestAttributes, attempt: Attempt, state: RequestState, targeted: boolean): MutatingDecision {
    const { findTypes, typed, watcher } = this.#options;
    const ask = (policies: readonly PreparedPolicy[]): MutatingDecision =>
      evaluatePolicies({ policies, request, attempt, state, findTypes, targeted, typed, watcher });
    if (targeted) return request.kind.kind === "" ? failedWith(NO_KIND) : ask(this.#policies);
    const { operation, resource, converted, object } = request;
    const exempt = exemption(resource.group, resource.resource);
    if (exempt !== undefined) return skippedBecause(exempt, object);
    if (!isOperation(operation)) return failedWith(UNKNOWN_OPERATION);
    if (operation === "DELETE") return skippedBecause("nothing is mutated that is deleted", object);
    const candidates = this.#index.candidates(operation, resource.group, resource.resource, converted?.resource);
    if (candidates.length === 0) return skippedBecause("no resource rule matches", object);
    return ask(candidates);
  }
}

/** The outcome of a payload that no API server sends. */
const NO_KIND: Failure = {
  verdict: "error",
  message: "what is to be mutated is of no kind: it must have apiVersion and kind",
  cause: "protocol",
};

/** A payload is of the kind that it says. */
function rawRequest(payload: unknown): RequestAttributes {
  const request = attributesOfRaw(payload);
  const version = parseApiVersion(text(payload, "apiVersion"));
  const kind = text(payload, "kind");
  return version === undefined || kind === "" ? request : { ...request, kind: { ...version, kind } };
}

const abandoned = (): MutatingDecision => failedWith(NOT_IN_TIME);
