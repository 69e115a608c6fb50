/** MutatingAdmissionPolicies as a {@link Policy}: one, or all of a set together. */

import { Waiting } from "../../cel/index.js";
import { compareNames, parseApiVersion } from "../../kubernetes/names.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import { kindMistake } from "../../policy/described-review.js";
import type { Cause, Failure, Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, Policy } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import { RequestWorld } from "../../world/request-world.js";
import type { World } from "../../world/world.js";
import { commonExpressionsOf } from "../admission-policy/covered-expressions.js";
import type { CoveredExpression, WithExpressions } from "../shared/coverage/coverage.js";
import type { Dialect } from "../shared/dialect.js";
import type { Explainable, ExplainedPolicy } from "../shared/explain/explainable.js";
import { Attempt, type AttemptOptions } from "../shared/expressions/attempt.js";
import { NOT_IN_TIME } from "../shared/expressions/interruption.js";
import { Progress } from "../shared/expressions/progress.js";
import { exemption, isOperation, UNKNOWN_OPERATION } from "../shared/match/exempt.js";
import { MatchIndex } from "../shared/match/match-index.js";
import { attributesOf, attributesOfRaw, type RequestAttributes } from "../shared/match/request-attributes.js";
import { type Changes, changedOutcome, changesBetween } from "../shared/mutation/changes.js";
import type { FindTypes } from "../shared/mutation/merge-types.js";
import type { Watcher } from "../shared/watcher.js";
import { failedWith, type MutatingDecision, refusalMessage, refusalReason, skippedBecause } from "./decision.js";
import type { Dispatch } from "./dispatch.js";
import { Pass } from "./pass.js";
import type { PreparedPolicy } from "./prepared-policy.js";
import { Reinvocation } from "./reinvocation.js";
import { RequestState } from "./request-state.js";
import type { MutationMember } from "./resource.js";

// A decision as the Outcome of one policy: a JSON Patch, or the words of a webhook's answer (spec mutating-admission-policy.md 8).

/** The code of a refusal, whatever its reason is. */
const FORBIDDEN = 403;

/** The changes of a decision. `before` is the object of the request. */
function changesOf({ failure, refusals, skipped, object }: MutatingDecision, before: unknown): Changes {
  if (failure !== undefined || refusals.length > 0 || skipped !== undefined) return [];
  return changesBetween(before, object);
}

/** The outcome of a decision with its changes. */
function outcomeOf(decision: MutatingDecision, changes: Changes): Outcome {
  const { detail } = decision;
  const outcome = answerOf(decision, changes);
  return detail === undefined ? outcome : { ...outcome, detail };
}

function answerOf(decision: MutatingDecision, changes: Changes): Outcome {
  const { failure, refusals, skipped, object } = decision;
  if (failure !== undefined) return failure;
  const [first] = refusals;
  if (first !== undefined) {
    // No policy says no: there are only failures, and an error must not read as a *no*.
    return {
      verdict: "error",
      message: refusalMessage(first),
      code: FORBIDDEN,
      reason: refusalReason(first),
      cause: first.kind === "configuration" ? "unavailable" : "expression",
      causes: refusals.map(
        (refusal): Cause => ({ reason: refusalReason(refusal), message: refusalMessage(refusal), field: null }),
      ),
    };
  }
  if (skipped !== undefined) return { verdict: "skip", reason: skipped };
  return changedOutcome(changes, object);
}

/**
 * The policies' decision about the object: one pass over all of them, and a second one over those that may be reinvoked when the first has mutated it
 * (spec mutating-admission-policy.md 2 and 3). The result of an attempt that waits for an answer must be discarded.
 */
function evaluatePolicies(dispatch: Dispatch): MutatingDecision {
  const { attempt, request, state } = dispatch;
  state.begin();
  const reinvocation = new Reinvocation();
  const first = new Pass(dispatch, reinvocation).run();
  const interrupted = (): MutatingDecision | undefined =>
    attempt.interruption === undefined ? undefined : failedWith(attempt.interruption);
  // The result of an attempt that waits is discarded.
  if (first instanceof Waiting) return interrupted() ?? failedWith(NOT_IN_TIME);
  const decided = interrupted() ?? first;
  if (decided.failure !== undefined || decided.refusals.length > 0 || !reinvocation.wanted) return decided;
  reinvocation.beginSecondPass();
  const mutated = { ...request, object: decided.object };
  const again = { ...dispatch, request: mutated, selecting: { ...mutated, object: asLabelled(decided.object) } };
  const second = new Pass(again, reinvocation).run();
  if (second instanceof Waiting) return interrupted() ?? failedWith(NOT_IN_TIME);
  return interrupted() ?? { ...second, skipped: first.skipped };
}

/** An object as selectors see it: if a mutation has made one of its labels something other than a text, it has no labels, as in the server. */
function asLabelled(object: unknown): unknown {
  const metadata = member(object, "metadata");
  const labels = member(metadata, "labels");
  if (!isObject(object) || !isObject(metadata) || !isObject(labels)) return object;
  if (Object.values(labels).every((value) => typeof value === "string")) return object;
  return { ...object, metadata: { ...metadata, labels: {} } };
}

/** The expressions of a policy with their places: match conditions must be seen both true and false, the others evaluated. */
function* expressionsOf(policy: PreparedPolicy): Iterable<CoveredExpression> {
  yield* commonExpressionsOf(policy);
  for (const [i, { patchType, expressions }] of policy.mutations.entries()) {
    const member: MutationMember = patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
    const path = `spec.mutations[${i}].${member}.expression`;
    yield { policy: policy.name, path, name: undefined, expression: expressions[0], wanted: "evaluated" };
  }
}

/** Options of a set. */
export interface PolicySetOptions {
  readonly id: string;
  /** The dialect in which the policies, except their mutations, were compiled. */
  readonly dialect: Dialect;
  readonly world: World;
  readonly findTypes: FindTypes;
  /** Whether objects of built-in kinds are reduced to what Go's structs keep, as inside of the API server. */
  readonly typed: boolean;
  /** Whether the policies ask for more than the request: their world has the answers. */
  readonly asks?: boolean;
  /** Watches the result of each policy. */
  readonly watcher?: Watcher | undefined;
}

/** Prepared policies that are evaluated together. */
export class MutatingPolicySet implements Policy, WithExpressions, Explainable {
  readonly kind = "cel";
  readonly immediate = true;
  readonly implementation = "MutatingAdmissionPolicy";
  readonly id: string;
  readonly #policies: readonly PreparedPolicy[];
  readonly #options: PolicySetOptions;
  readonly #index: MatchIndex<PreparedPolicy>;

  /** @param policies in order of evaluation */
  constructor(policies: readonly PreparedPolicy[], options: PolicySetOptions) {
    this.id = options.id;
    this.#policies = policies;
    this.#options = options;
    this.#index = new MatchIndex(policies, ({ match }) => match);
  }

  inOnePass(id: string, others: readonly Policy[]): Policy {
    const all = [this, ...others.filter((each) => each instanceof MutatingPolicySet)];
    const policies = all.flatMap((each) => each.#policies).sort((a, b) => compareNames(a.name, b.name));
    const options = all.map((each) => each.#options).find(({ asks }) => asks) ?? this.#options;
    return new MutatingPolicySet(policies, { ...options, id });
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
    // An evaluation that took long has a long answer, too: others have their turn before each half of it.
    const { turns } = context;
    return decision.then(async (decided) => {
      await turns?.next();
      const changes = changesOf(decided, object);
      await turns?.next();
      return outcomeOf(decided, changes);
    });
  }

  /**
   * The policies' decision about the object.
   * @param targeted whether rules and selectors are ignored
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

/** The outcome of a payload without a kind, which no API server sends. */
const NO_KIND: Failure = {
  verdict: "error",
  message: "what is to be mutated is of no kind: it must have apiVersion and kind",
  cause: "protocol",
};

/** A request about a payload, with the payload's own kind. */
function rawRequest(payload: unknown): RequestAttributes {
  const request = attributesOfRaw(payload);
  const version = parseApiVersion(text(payload, "apiVersion"));
  const kind = text(payload, "kind");
  return version === undefined || kind === "" ? request : { ...request, kind: { ...version, kind } };
}

const abandoned = (): MutatingDecision => failedWith(NOT_IN_TIME);
