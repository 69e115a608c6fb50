/**
 * The member calls of one evaluation of a group (disposable): every question is put once, however often the expression asks it.
 */

import { CelError } from "../../cel/values/cel-error.js";
import { Suspended } from "../../cel/values/suspended.js";
import { toJson } from "../../cel/values/to-json.js";
import type { Result, Value } from "../../cel/values/value.js";
import { stringifyJson } from "../../data/json.js";
import type { EvaluationContext, Outcome, Policy, Review, SynchronousPolicy } from "../../policy/index.js";
import { type GroupMember, type MemberAnswer, outcomeInGroup } from "./member.js";
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

/** The answers so far, in the order in which they came. */
export class MemberCalls {
  /** By question: the member's name, with the value's JSON text when it is asked about a value. */
  private readonly answered = new Map<string, Outcome>();
  private readonly answers: MemberAnswer[] = [];

  constructor(private readonly options: MemberCallsOptions) {}

  /** Every answer of every member that was asked. */
  all(): readonly MemberAnswer[] {
    return this.answers;
  }

  /**
   * What `name()` or `name(value)` is worth: true for allow and skip, false for deny, an error for a failure; suspended while a policy
   * that needs time is at work.
   */
  ask(name: string, value: Value | undefined): Result | Suspended {
    const member = this.options.members.get(name);
    if (member === undefined) return new CelError(`unknown member '${name}'`);
    let question = name;
    let data: unknown;
    if (value !== undefined) {
      data = toJson(value);
      if (data instanceof CelError) return new CelError(`${name}(): ${data.message}`);
      question = `${name} ${stringifyJson(data)}`;
    }
    const known = this.answered.get(question);
    if (known !== undefined) return worthOf(name, known);
    if (this.answered.size >= MAX_MEMBER_CALLS) {
      return new CelError(`more than ${MAX_MEMBER_CALLS} different questions to members`);
    }
    const review = value === undefined ? this.options.review : reviewOf(this.options.review, data);
    return this.put(member, question, review);
  }

  private put(member: GroupMember, question: string, review: Review): Result | Suspended {
    const { context, now } = this.options;
    const start = now();
    if (isSynchronous(member.policy)) {
      const outcome = member.policy.evaluateNow(review, context);
      if (outcome !== undefined) return worthOf(member.name, this.record(member, question, outcome, start));
    }
    const ready = member.policy.evaluate(review, context).then((outcome) => {
      this.record(member, question, outcome, start);
    });
    return new Suspended(ready);
  }

  private record(member: GroupMember, question: string, raw: Outcome, start: number): Outcome {
    const outcome = outcomeInGroup(raw);
    this.answered.set(question, outcome);
    this.answers.push({ member: member.name, outcome });
    this.options.context.observe?.({
      policy: `${this.options.group}/${member.name}`,
      outcome,
      milliseconds: this.options.now() - start,
      member: true,
    });
    return outcome;
  }
}

/** Whether a policy can answer without waiting. */
export function isSynchronous(policy: Policy): policy is SynchronousPolicy {
  return "evaluateNow" in policy;
}

function worthOf(name: string, outcome: Outcome): Result {
  switch (outcome.verdict) {
    case "allow":
    case "skip":
      return true;
    case "deny":
      return false;
    case "error":
      return new MemberFailure(`${name} failed: ${outcome.message}`);
  }
}

/** The error of a member that failed, told apart from errors of the expression itself. */
export class MemberFailure extends CelError {}
