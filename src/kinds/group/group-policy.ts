/**
 * A policy group: members composed by a short-circuiting CEL expression.
 *
 * Errors follow CEL, and that makes the logic safe: a member that fails is an error, `true || error` is true, and an error that decides the
 * result denies with code 500. So `!member()` never turns a crash into an accept (a deliberate difference from Kubewarden).
 */

import {
  type Bindings,
  CelError,
  type EvaluationSteps,
  type Program,
  type Result,
  type Waiting,
} from "../../cel/index.js";
import type { GroupWarnings } from "../../config/entry.js";
import { describedReview, kindMistake } from "../../policy/described-review.js";
import type { Cause, Composition, EvaluationContext, Outcome, Policy, PolicyRule, Review } from "../../policy/index.js";
import { rulesTogether } from "../../policy/rules-together.js";
import { EXPRESSION_STRETCH_MS, LONG_TURN_MS, SLICE_MS } from "../../policy/turns.js";
import type { GroupMember } from "../kind.js";
import type { MemberAnswer } from "./member.js";
import { MemberCalls, MemberFailure, type ObservedMember } from "./member-calls.js";

// The parts of a group's answer about its members: causes and warnings, in the order of definition.

/** One cause per answer that denied or failed (spec kubewarden.md 5.3). */
function causesOf(members: readonly string[], answers: readonly MemberAnswer[]): Cause[] {
  const causes: Cause[] = [];
  for (const { member, outcome } of members.flatMap((name) => answers.filter((answer) => answer.member === name))) {
    if (outcome.verdict !== "deny" && outcome.verdict !== "error") continue;
    causes.push({ reason: null, message: outcome.message ?? null, field: `spec.policies.${member}` });
  }
  return causes;
}

/** The warnings of a group that has decided. */
function warningsOf(
  members: readonly string[],
  answers: readonly MemberAnswer[],
  mode: GroupWarnings,
  allowed: boolean,
): string[] {
  if (mode === "none") return [];
  const everyMember = mode === "all" || !allowed;
  const warnings: string[] = [];
  for (const name of members) {
    let asked = false;
    for (const { member, outcome } of answers) {
      if (member !== name) continue;
      asked = true;
      if (everyMember || outcome.verdict === "deny" || outcome.verdict === "error")
        warnings.push(lineOf(name, outcome));
      if (outcome.warnings !== undefined) for (const warning of outcome.warnings) warnings.push(`${name}: ${warning}`);
    }
    if (!asked && everyMember) warnings.push(`${name} was not evaluated`);
  }
  return warnings;
}

function lineOf(name: string, outcome: Outcome): string {
  switch (outcome.verdict) {
    case "allow":
      return `${name} was accepted`;
    case "deny":
      return outcome.message === undefined ? `${name} was rejected` : `${name} was rejected: ${outcome.message}`;
    case "error":
      return `${name} failed: ${outcome.message}`;
    case "skip":
      return `${name} does not apply: ${outcome.reason}`;
  }
}

/** The status code: without one the API server uses 400, and kubectl says that the request was wrong (spec kubewarden.md 5.3 has none). */
const DENIED = 403;

/** The outcome of most requests. */
const ALLOWED: Outcome = { verdict: "allow" };

/** The parts of a group (prepared). */
export interface GroupOptions {
  readonly id: string;
  /** The expression as written, for people; absent: not needed. */
  readonly expression?: string;
  /** The compiled expression; one that is watched is evaluated in one go. */
  readonly program: Pick<Program, "evaluate"> & Partial<Pick<Program, "evaluateInSteps">>;
  readonly message: string;
  /** The members in order of definition. */
  readonly members: readonly GroupMember[];
  readonly warnings: GroupWarnings;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The group as a policy. */
export function createGroupPolicy(options: GroupOptions): Policy {
  return new GroupPolicy(options);
}

class GroupPolicy implements Policy {
  readonly id: string;
  readonly kind = "group";
  readonly implementation = "group";
  readonly #options: GroupOptions;
  readonly #members: ReadonlyMap<string, ObservedMember>;
  readonly #names: readonly string[];

  constructor(options: GroupOptions) {
    this.id = options.id;
    this.#options = options;
    this.#members = new Map(
      options.members.map((member) => [member.name, { ...member, observedAs: `${options.id}/${member.name}` }]),
    );
    this.#names = options.members.map(({ name }) => name);
  }

  get composition(): Composition | undefined {
    const { expression, members } = this.#options;
    if (expression === undefined) return undefined;
    return { expression, members: members.map(({ name, policy }) => ({ name, policy: policy.id })) };
  }

  /** Read for every request: a guest's value depends on its latest calls. */
  get immediate(): boolean {
    for (const { policy } of this.#options.members) if (!policy.immediate) return false;
    return true;
  }

  /** The rules of all members; absent when none has any. */
  get rules(): readonly PolicyRule[] | undefined {
    return rulesTogether(this.#options.members.map(({ policy }) => policy));
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const { now, program } = this.#options;
    const mistaken = kindMistake(review);
    if (mistaken !== undefined) return mistaken;
    // A member sees the same, whether it is asked about the request or about its object.
    const described = describedReview(review);
    const calls = new MemberCalls({ members: this.#members, review: described, context, now });
    const bindings = new Variables(described) as object as Bindings;
    const turns = program.evaluateInSteps && context.turns;
    const stretch = turns === undefined ? EXPRESSION_STRETCH_MS : LONG_TURN_MS;
    const limits = { state: calls, deadline: { at: context.deadline, now, stretch } };
    const { result } = program.evaluate(bindings, limits);
    const leftOff = turns !== undefined && isLeftOff(result, limits.deadline);
    if (leftOff) calls.questions.pause(turns);
    // Most requests need nothing of the following.
    if (!calls.questions.waiting) return this.#concluded(result, calls);
    const runs = this.#runs(bindings, limits, turns, leftOff);
    // A result that still waits for members is never final.
    return calls.questions
      .repeat<Result | Waiting>(runs, context, abandoned)
      .then((settled) => this.#concluded(settled, calls));
  }

  /**
   * The runs after the first. Each evaluates the expression; one that takes long is paused and resumed in the next run, and begins anew where it
   * has to wait for a member.
   * @param leftOff whether the first run was paused because it took long
   */
  #runs(
    bindings: Bindings,
    limits: RunLimits,
    turns: EvaluationContext["turns"],
    leftOff: boolean,
  ): () => Result | Waiting {
    const { program } = this.#options;
    const { state: calls, deadline } = limits;
    const { at, now } = deadline;
    let isLong = leftOff;
    let steps: EvaluationSteps | undefined;
    return () => {
      if (!isLong || turns === undefined) {
        calls.begin();
        const { result } = program.evaluate(bindings, limits);
        isLong = turns !== undefined && isLeftOff(result, deadline);
        return isLong && turns !== undefined ? calls.questions.pause(turns) : result;
      }
      if (steps === undefined) {
        calls.begin();
        const stepped = { at, now, stretch: EXPRESSION_STRETCH_MS, slice: SLICE_MS };
        steps = program.evaluateInSteps?.(bindings, { state: calls, deadline: stepped });
      } else calls.goOn();
      const step = steps?.next();
      if (step?.done !== true) return calls.questions.pause(turns);
      steps = undefined;
      return step.value.result;
    };
  }

  #concluded(result: Result | Waiting, { answers }: MemberCalls): Outcome {
    const { message } = this.#options;
    const allowed = result === true;
    const warnings = warningsOf(this.#names, answers, this.#options.warnings, allowed);
    if (allowed) return warnings.length === 0 ? ALLOWED : { verdict: "allow", warnings };
    const findings = warnings.length === 0 ? {} : { warnings };
    const causes = causesOf(this.#names, answers);
    if (result === false) return { verdict: "deny", message, code: DENIED, causes, ...findings };
    const failure = { verdict: "error", code: 500, causes, ...findings } as const;
    if (result instanceof MemberFailure) return { ...failure, message, cause: result.failure };
    const reason = result instanceof CelError ? result.message : "not a bool";
    const cause = result instanceof CelError && result.code === "interrupted" ? "timeout" : "expression";
    return { ...failure, message: `error evaluating policy group expression: ${reason}`, cause };
  }
}

/** The inputs of one run of an expression beside its variables. */
interface RunLimits {
  readonly state: MemberCalls;
  readonly deadline: { readonly at: number; readonly now: () => number; readonly stretch: number };
}

/** Whether a run was paused because it took long, and there is time to resume it. */
const isLeftOff = (result: Result | Waiting, { at, now }: RunLimits["deadline"]): boolean =>
  result instanceof CelError && result.code === "interrupted" && now() <= at;

/** The variables; for a raw review `object` is the payload. Objects are read when first used, and most expressions only call members. */
class Variables {
  readonly #review: Review;

  constructor(review: Review) {
    this.#review = review;
  }

  get object(): unknown {
    const review = this.#review;
    return review.kind === "raw" ? review.payload : (review.request.object ?? null);
  }

  get oldObject(): unknown {
    const review = this.#review;
    return review.kind === "raw" ? null : (review.request.oldObject ?? null);
  }

  get request(): unknown {
    const review = this.#review;
    return review.kind === "raw" ? null : review.request;
  }
}

const abandoned = (): CelError => new CelError("the caller no longer waits for the answer");
