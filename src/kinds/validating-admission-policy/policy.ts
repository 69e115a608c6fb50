/** ValidatingAdmissionPolicies as a {@link Policy}: one, or all of a set together. */

import { FAILURE_KEY } from "../../policy/audit-annotations.js";
import { kindMistake } from "../../policy/described-review.js";
import type { Cause, Findings, Outcome, ReportedFindings } from "../../policy/outcome.js";
import type { EvaluationContext, NeverDenying, Policy, PolicyRule } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import { RequestWorld } from "../../world/request-world.js";
import type { World } from "../../world/world.js";
import { commonExpressionsOf, coveredList } from "../admission-policy/covered-expressions.js";
import type { CoveredExpression, WithExpressions } from "../shared/coverage/coverage.js";
import type { Dialect } from "../shared/dialect.js";
import type { Explainable, ExplainedPolicy } from "../shared/explain/explainable.js";
import { Attempt, type AttemptOptions } from "../shared/expressions/attempt.js";
import { NOT_IN_TIME } from "../shared/expressions/interruption.js";
import { Progress } from "../shared/expressions/progress.js";
import { exemption, isOperation, UNKNOWN_OPERATION } from "../shared/match/exempt.js";
import { MatchIndex } from "../shared/match/match-index.js";
import { leavesOutNamespace } from "../shared/match/match-resources.js";
import { attributesOf, attributesOfRaw, type RequestAttributes } from "../shared/match/request-attributes.js";
import type { Watcher } from "../shared/watcher.js";
import {
  type BoundViolation,
  denialMessage,
  failedWith,
  type PolicyDecision,
  reasonCode,
  skippedBecause,
} from "./decision.js";
import { evaluatePolicies } from "./evaluate-policies.js";
import type { PreparedPolicy } from "./prepared-policy.js";

// A decision as the Outcome of one policy, in the words of a webhook's answer (spec validating-admission-policy.md 2.3 to 2.6).

/** Longest name part of an annotation's key. */
const KEY_MAX = 63;

/** The outcome of most requests. */
const ALLOWED: Outcome = { verdict: "allow" };
const NONE: Findings = {};

/** The outcome of a decision. Denials come before skips, and a failure before both. */
function outcomeOf(decision: PolicyDecision): Outcome {
  const { detail } = decision;
  return detail === undefined ? answerOf(decision) : { ...answerOf(decision), detail };
}

function answerOf(decision: PolicyDecision): Outcome {
  const findings = findingsOf(decision);
  const { failure, denials, skipped } = decision;
  if (failure !== undefined) return { ...failure, ...findings };
  const [first] = denials;
  if (first !== undefined) {
    const message = denialMessage(first);
    const reason = first.reason || "Invalid";
    const causes = denials.map(causeOf);
    const report = reportOf(first, denials);
    const code = reasonCode(reason);
    // A validation that is false denies for certain. If there are only errors, the result is not known: an error must not read as a *no*.
    if (denials.some(({ kind }) => kind === "false"))
      return { verdict: "deny", message, code, reason, causes, report, ...findings };
    const cause = first.kind === "configuration" ? "unavailable" : "expression";
    return { verdict: "error", message, code, reason, cause, causes, report, ...findings };
  }
  if (skipped !== undefined) return { verdict: "skip", ...skipped, ...findings };
  return findings === NONE ? ALLOWED : { verdict: "allow", ...findings };
}

function causeOf(denial: BoundViolation): Cause {
  return {
    reason: denial.reason ?? null,
    message: denialMessage(denial),
    field: denial.index === undefined ? null : `spec.validations[${denial.index}].expression`,
  };
}

const reportOf = ({ message, binding }: BoundViolation, denials: readonly BoundViolation[]): ReportedFindings => ({
  message,
  ...(binding?.name !== undefined && { binding: binding.name }),
  actions: denials.flatMap((denial) => denial.binding?.written ?? []),
});

function findingsOf(decision: PolicyDecision): Findings {
  const { warnings, found } = decision;
  const annotations = webhookAnnotations(decision);
  if (warnings.length === 0 && annotations === undefined && found.length === 0) return NONE;
  return {
    ...(warnings.length > 0 && { warnings }),
    ...(annotations !== undefined && { auditAnnotations: annotations }),
    ...(found.length > 0 && { found }),
  };
}

/** Annotations with keys without a slash, which the API server would drop: the policy's name goes before a key that two policies use. */
function webhookAnnotations(decision: PolicyDecision): Record<string, string> | undefined {
  if (decision.annotations.length === 0) return undefined;
  const users = new Map<string, Set<string>>();
  for (const { policy, key } of decision.annotations) {
    users.set(key, (users.get(key) ?? new Set()).add(policy));
  }
  const annotations: Record<string, string> = {};
  for (const { policy, key, value } of decision.annotations) {
    const alone = users.get(key)?.size === 1 && key !== FAILURE_KEY;
    annotations[shortened(alone ? key : `${policy}.${key}`)] ??= value;
  }
  return annotations;
}

const shortened = (key: string): string => key.slice(-KEY_MAX).replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");

/** The expressions of a policy with their places: validations and match conditions must be seen both true and false, the others evaluated. */
function* expressionsOf(policy: PreparedPolicy): Iterable<CoveredExpression> {
  const { name, expressions, messages, annotations, annotationKeys } = policy;
  yield* commonExpressionsOf(policy);
  yield* coveredList(name, "validations", "expression", expressions, "both");
  yield* coveredList(name, "validations", "messageExpression", messages, "evaluated");
  yield* coveredList(name, "auditAnnotations", "valueExpression", annotations, "evaluated", annotationKeys);
}

/** Whether no binding of a policy denies. One without validations is for its annotations: a failing one denies. */
const neverDenies = ({ bindings, validations }: PreparedPolicy): boolean =>
  validations.length > 0 && !bindings.some(({ actions }) => actions.includes("Deny"));

/** Options of a set. */
export interface PolicySetOptions {
  readonly id: string;
  /** The dialect in which the policies were compiled. */
  readonly dialect: Dialect;
  readonly world: World;
  /** Watches the result of each policy. */
  readonly watcher?: Watcher | undefined;
  /** Whether they match everything, for lack of criteria: then the webhook's registration decides which requests they get. */
  readonly isForAnything?: boolean;
}

/** Prepared policies that are evaluated together. */
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

  /** @param policies in order of evaluation */
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

  get neverDenying(): NeverDenying {
    return { names: this.#policies.filter(neverDenies).map(({ name }) => name), of: this.#policies.length };
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

  leavesOut(_: string, labels: Readonly<Record<string, string>>): boolean {
    return this.#policies.every(
      ({ match, bindings, paramKind }) =>
        match !== undefined &&
        (leavesOutNamespace(match, labels) ||
          // A kind of parameters that can't be found out about is a finding, before any binding is looked at.
          (paramKind === undefined &&
            bindings.every((binding) => binding.match !== undefined && leavesOutNamespace(binding.match, labels)))),
    );
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
   * The decision of the policies.
   * @param targeted whether rules and selectors are ignored
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
