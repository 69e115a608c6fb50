/**
 * A policy group: members composed by a short-circuiting CEL expression.
 *
 * Errors follow CEL, and that makes the logic safe: a member that fails is an error, `true || error` is true, and an error that decides the
 * result denies with code 500. So `!member()` never turns a crash into an accept (a deliberate difference from Kubewarden).
 */

import type { Program } from "../../cel/index.js";
import { CelError } from "../../cel/values/cel-error.js";
import { Suspended } from "../../cel/values/suspended.js";
import type { Result } from "../../cel/values/value.js";
import type { EvaluationContext, Outcome, Policy, Review, SynchronousPolicy } from "../../policy/index.js";
import type { GroupMember } from "./member.js";
import { isSynchronous, MemberCalls, MemberFailure } from "./member-calls.js";
import { causesOf, type GroupWarnings, warningsOf } from "./report.js";

/** Cost units one evaluation of a group's expression may use: the limit of one expression in Kubernetes (spec kubernetes-cel.md 5.1). */
const EXPRESSION_COST_LIMIT = 1_000_000;

/** What a group is made of (prepared). */
export interface GroupOptions {
  readonly id: string;
  readonly program: Program;
  readonly message: string;
  /** In order of definition. */
  readonly members: readonly GroupMember[];
  readonly warnings: GroupWarnings;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The group as a policy; one whose members all answer without waiting does so itself. */
export function createGroupPolicy(options: GroupOptions): Policy {
  const group = new Group(options);
  const policy: Policy = {
    id: options.id,
    kind: "group",
    implementation: "group",
    evaluate: (review, context) => group.evaluate(review, context),
  };
  if (!options.members.every(({ policy: member }) => isSynchronous(member))) return policy;
  const synchronous: SynchronousPolicy = {
    ...policy,
    evaluateNow: (review, context) => group.evaluateNow(review, context),
  };
  return synchronous;
}

class Group {
  private readonly members: ReadonlyMap<string, GroupMember>;
  private readonly names: readonly string[];

  constructor(private readonly options: GroupOptions) {
    this.members = new Map(options.members.map((member) => [member.name, member]));
    this.names = options.members.map(({ name }) => name);
  }

  async evaluate(review: Review, context: EvaluationContext): Promise<Outcome> {
    const calls = this.calls(review, context);
    try {
      // Ends: every round answers one more question, and their number is limited.
      for (;;) {
        const result = this.run(review, calls);
        if (!(result instanceof Suspended)) return this.outcome(result, calls);
        await result.ready;
        // No further member is asked for nobody.
        if (context.signal.aborted) return this.outcome(new CelError("nobody waits for the answer any more"), calls);
      }
    } catch (error) {
      return this.outcome(new CelError(error instanceof Error ? error.message : "internal error"), calls);
    }
  }

  evaluateNow(review: Review, context: EvaluationContext): Outcome | undefined {
    const calls = this.calls(review, context);
    const result = this.run(review, calls);
    return result instanceof Suspended ? undefined : this.outcome(result, calls);
  }

  private calls(review: Review, context: EvaluationContext): MemberCalls {
    const { id, now } = this.options;
    return new MemberCalls({ group: id, members: this.members, review, context, now });
  }

  private run(review: Review, calls: MemberCalls) {
    return this.options.program.evaluate(bindingsOf(review), { costLimit: EXPRESSION_COST_LIMIT, state: calls }).result;
  }

  private outcome(result: Result, calls: MemberCalls): Outcome {
    const answers = calls.all();
    const allowed = result === true;
    const warnings = warningsOf(this.names, answers, this.options.warnings, allowed);
    const findings = warnings.length === 0 ? {} : { warnings };
    if (allowed) return { verdict: "allow", ...findings };
    const causes = causesOf(this.names, answers);
    if (result === false) return { verdict: "deny", message: this.options.message, causes, ...findings };
    const message =
      result instanceof MemberFailure
        ? this.options.message
        : `error evaluating policy group expression: ${result instanceof CelError ? result.message : "not a bool"}`;
    return { verdict: "error", message, code: 500, cause: "expression", causes, ...findings };
  }
}

/** The request's variables; for a raw review `object` is the payload. */
function bindingsOf(review: Review) {
  if (review.kind === "raw") return { object: review.payload, oldObject: null, request: null } as never;
  const { request } = review;
  return { object: request.object ?? null, oldObject: request.oldObject ?? null, request } as never;
}
