/**
 * The member calls of one evaluation of a group (disposable): every question is put once, however often the expression asks it.
 */
import { CelError, Questions, type Result, toJson, type Value, type Waiting } from "../../cel/index.js";
import { stringifyJson } from "../../data/json.js";
import { evaluateInTime } from "../../policy/evaluate-in-time.js";
import { EvaluationRun } from "../../policy/evaluation-run.js";
import type { EvaluationContext, Failure, FailureCause, Outcome, Review } from "../../policy/index.js";
import type { GroupMember } from "../kind.js";
import { type MemberAnswer, outcomeInGroup } from "./member.js";
import { reviewOf } from "./targeted-review.js";

/**
 * Most different questions that one evaluation may put to members, `member(value)` counting once per value: a list of a hostile object
 * must not start a thousand guests.
 */
export const MAX_MEMBER_CALLS = 256;

/** Circumstances of a group's evaluation. */
export interface MemberCallsOptions {
  readonly group: string;
  readonly members: ReadonlyMap<string, GroupMember>;
  readonly review: Review;
  readonly context: EvaluationContext;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** A value as members are asked about it, and the text that tells it from others. */
interface Subject {
  readonly data: unknown;
  readonly text: string;
}

/** The answers so far, in the order in which they came. */
export class MemberCalls {
  /** By the member's name, with the value's JSON text when it is asked about a value. */
  readonly questions = new Questions(MAX_MEMBER_CALLS);
  readonly #options: MemberCallsOptions;
  readonly #answers: MemberAnswer[] = [];
  /** Objects and lists are read and printed once: a loop may ask about the same one many times. */
  readonly #subjects = new Map<object, Subject>();

  constructor(options: MemberCallsOptions) {
    this.#options = options;
  }

  /** Every answer of every member that was asked. */
  get answers(): readonly MemberAnswer[] {
    return this.#answers;
  }

  /**
   * What `name()` or `name(value)` is: true for allow and skip, false for deny, an error for a failure; waiting while a policy that needs time
   * is at work.
   */
  ask(name: string, value: Value | undefined): Result | Waiting {
    const member = this.#options.members.get(name);
    if (member === undefined) return new CelError(`unknown member '${name}'`);
    const { review } = this.#options;
    if (value === undefined) return this.#put(member, name, () => review);
    const subject = this.#subjectOf(value);
    if (subject instanceof CelError) return new CelError(`${name}(): ${subject.message}`);
    return this.#put(member, `${name} ${subject.text}`, () => reviewOf(review, subject.data));
  }

  #subjectOf(value: Value): Subject | CelError {
    const known = typeof value === "object" && value !== null ? this.#subjects.get(value) : undefined;
    if (known !== undefined) return known;
    const data = toJson(value);
    if (data instanceof CelError) return data;
    const subject = { data, text: stringifyJson(data) };
    if (typeof value === "object" && value !== null) this.#subjects.set(value, subject);
    return subject;
  }

  #put(member: GroupMember, key: string, reviewFor: () => Review): Result | Waiting {
    const answer = this.questions.ask<Outcome>({
      key,
      put: () => this.#evaluate(member, reviewFor()),
      // Asking never throws, so that it can only be one question too many.
      failed: () => TOO_MANY,
    });
    if (answer === TOO_MANY) return new CelError(TOO_MANY.message);
    return "verdict" in answer ? resultOf(member.name, answer) : answer;
  }

  #evaluate({ name, policy, timeout }: GroupMember, review: Review): Outcome | Promise<Outcome> {
    const { context, now } = this.#options;
    const started = now();
    const run = EvaluationRun.within(context, started + timeout);
    const record = (outcome: Outcome): Outcome => this.#record(name, outcomeInGroup(outcome), started);
    const outcome = evaluateInTime(policy, review, run, now);
    return outcome instanceof Promise ? outcome.then(record) : record(outcome);
  }

  #record(member: string, outcome: Outcome, started: number): Outcome {
    const { group, context, now } = this.#options;
    this.#answers.push({ member, outcome });
    context.observe?.({
      policy: `${group}/${member}`,
      outcome,
      milliseconds: now() - started,
      member: true,
    });
    return outcome;
  }
}

const TOO_MANY: Failure = {
  verdict: "error",
  message: `more than ${MAX_MEMBER_CALLS} different questions to members`,
  cause: "expression",
};

function resultOf(name: string, outcome: Outcome): Result {
  switch (outcome.verdict) {
    case "allow":
    case "skip":
      return true;
    case "deny":
      return false;
    case "error":
      return new MemberFailure(`${name} failed: ${outcome.message}`, outcome.cause);
  }
}

/** The error of a member that failed, told apart from errors of the expression itself. */
export class MemberFailure extends CelError {
  /** What kind of failure it was. */
  readonly failure: FailureCause;

  constructor(message: string, failure: FailureCause) {
    super(message);
    this.failure = failure;
  }
}
