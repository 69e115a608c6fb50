/**
 * A policy group: members composed by a short-circuiting CEL expression.
 *
 * Errors follow CEL, and that makes the logic safe: a member that fails is an error, `true || error` is true, and an error that decides the
 * result denies with code 500. So `!member()` never turns a crash into an accept (a deliberate difference from Kubewarden).
 */

import { type Bindings, CelError, type Result } from "../../cel/index.js";
import type { GroupWarnings } from "../../config/entry.js";
import { AnnotationValues, annotationKeys, cutValue } from "../../policy/audit-annotations.js";
import { describedReview, kindMistake } from "../../policy/described-review.js";
import type {
  Cause,
  Composition,
  EvaluationContext,
  Failure,
  FailureCause,
  Findings,
  Found,
  NeverDenying,
  Outcome,
  Policy,
  PolicyRule,
  Review,
} from "../../policy/index.js";
import { rulesTogether } from "../../policy/rules-together.js";
import type { GroupMember } from "../kind.js";
import type { CoveredExpression, WithExpressions } from "../shared/coverage/coverage.js";
import type { Explainable, ExplainedPolicy } from "../shared/explain/explainable.js";
import type { Expression, ExpressionProgram } from "../shared/expressions/expression.js";
import { trimSpace, usableMessage } from "../shared/expressions/trim.js";
import { Evaluations, type GroupProgram } from "./evaluations.js";
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

/** Most annotations of members in one answer: a guest may have any number. */
export const MAX_MEMBER_ANNOTATIONS = 100;

/** An expression that makes a text of the answer: its message, or the value of an audit annotation. */
export interface GroupText {
  /** Its path in the group's entry. */
  readonly path: string;
  /** The key of an annotation. */
  readonly key?: string;
  readonly expression: Expression & { readonly program: ExpressionProgram };
}

/** The parts of a group (prepared). */
export interface GroupOptions {
  readonly id: string;
  /** The expression as written, for people; absent: not needed. */
  readonly expression?: string;
  /** The compiled expression. */
  readonly program: GroupProgram;
  readonly message: string;
  /** One without a key makes the message: it is the first, and where it fails, `message` stands. Default: none. */
  readonly texts?: readonly GroupText[];
  /** Whether the expression is true as long as no member fails: those that matter can never deny. */
  readonly alwaysAllows?: boolean;
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

class GroupPolicy implements Policy, WithExpressions, Explainable {
  readonly id: string;
  readonly kind = "group";
  readonly implementation = "group";
  readonly #options: GroupOptions;
  readonly #members: ReadonlyMap<string, ObservedMember>;
  readonly #names: readonly string[];
  readonly #programs: readonly (GroupProgram | undefined)[];
  /** The keys of its audit annotations. */
  readonly #keys: readonly string[];

  constructor(options: GroupOptions) {
    this.id = options.id;
    this.#options = options;
    this.#members = new Map(
      options.members.map((member) => [member.name, { ...member, observedAs: `${options.id}/${member.name}` }]),
    );
    this.#names = options.members.map(({ name }) => name);
    const { program, texts = [] } = options;
    const programs = texts.map(({ expression }) => expression.program);
    const hasNoMessage = texts[0]?.key !== undefined;
    this.#keys = texts.flatMap(({ key }) => key ?? []);
    this.#programs = [program, ...(hasNoMessage ? [undefined] : []), ...programs];
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

  /** Whether its expression is true whatever members say that can deny. */
  get neverDenying(): NeverDenying | undefined {
    return this.#options.alwaysAllows === true ? { names: [], of: 0 } : undefined;
  }

  *expressions(): Iterable<CoveredExpression> {
    for (const { path, key, expression } of this.#options.texts ?? [])
      yield { policy: this.id, path, name: key, expression, wanted: "evaluated" };
  }

  explained(): readonly ExplainedPolicy[] {
    const { texts = [] } = this.#options;
    const expressions = texts.map(({ path, key, expression }) => ({ path, name: key, expression }));
    return [{ title: "", variants: [{ part: this, expressions }] }];
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const { now } = this.#options;
    const mistaken = kindMistake(review);
    if (mistaken !== undefined) return mistaken;
    // A member sees the same, whether it is asked about the request or about its object.
    const described = describedReview(review);
    const calls = new MemberCalls({ members: this.#members, review: described, context, now });
    const bindings = new Variables(described) as object as Bindings;
    const evaluations = new Evaluations({ programs: this.#programs, bindings, calls, context, now });
    evaluations.attempt();
    // Most requests need nothing of the following.
    if (!calls.questions.waiting) return this.#concluded(evaluations, calls);
    return calls.questions
      .repeat(() => evaluations.attempt(), context, nothing)
      .then(() => this.#concluded(evaluations, calls));
  }

  #concluded({ decided, texts, judged, ended }: Evaluations, { answers }: MemberCalls): Outcome {
    const result = ended ? decided : ABANDONED;
    const allowed = result === true;
    const asked = judged === answers.length ? answers : answers.slice(0, judged);
    const warnings = warningsOf(this.#names, asked, this.#options.warnings, allowed);
    const trace = this.#traceOf(texts, answers, warnings);
    if (allowed && trace === NO_TRACE) return ALLOWED;
    const { failed, ...findings } = trace;
    if (allowed && failed === undefined) return { verdict: "allow", ...findings };
    const causes = causesOf(this.#names, asked);
    const message = usableMessage(texts?.[MESSAGE]) ?? this.#options.message;
    if (result === false) return { verdict: "deny", message, code: DENIED, causes, ...findings };
    const failure = { verdict: "error", code: 500, causes, ...findings } as const;
    if (allowed && failed !== undefined) return { ...failure, ...failed };
    const cause = causeOf(result);
    if (result instanceof MemberFailure) return { ...failure, message, cause };
    const reason = result instanceof CelError ? result.message : "not a bool";
    return { ...failure, message: `error evaluating policy group expression: ${reason}`, cause };
  }

  /** The trace of the answer: annotations of the group and of its members, and their findings. */
  #traceOf(texts: Evaluations["texts"], answers: readonly MemberAnswer[], warnings: readonly string[]): Trace {
    const leaves = ({ outcome }: MemberAnswer): boolean => (outcome.found ?? outcome.auditAnnotations) !== undefined;
    if (texts === undefined && warnings.length === 0 && !answers.some(leaves)) return NO_TRACE;
    const [said, ...values] = texts ?? [];
    const own: Record<string, string> = {};
    let failed: Trace["failed"];
    for (const [i, value] of values.entries()) {
      const key = this.#keys[i] ?? "";
      if (value instanceof CelError) {
        const message = `error evaluating audit annotation '${key}' of policy group: ${value.message}`;
        failed ??= { message, cause: causeOf(value) };
      } else if (typeof value === "string" && trimSpace(value) !== "") own[key] = cutValue(trimSpace(value));
    }
    const members = new AnnotationValues();
    const found: Found[] = [];
    for (const { member, outcome } of answers) {
      for (const [key, value] of Object.entries(outcome.auditAnnotations ?? {})) members.add(`${member}/${key}`, value);
      for (const each of outcome.found ?? [])
        found.push({ ...each, member: each.member === undefined ? member : `${member}/${each.member}` });
    }
    const all = members.joined().map(([path, value]) => {
      const [, member = "", key = ""] = /^([^/]*)\/(.*)$/s.exec(path) ?? [];
      return [member, key, cutValue(value)] as const;
    });
    const left = all.length - MAX_MEMBER_ANNOTATIONS;
    const details = [
      ...unusable(said),
      ...(failed === undefined ? [] : [failed.message]),
      ...(left > 0 ? [`${left} audit annotations of members were left out`] : []),
    ];
    const auditAnnotations = annotationKeys(all.slice(0, MAX_MEMBER_ANNOTATIONS), own);
    return {
      ...(warnings.length > 0 && { warnings }),
      ...(Object.keys(auditAnnotations).length > 0 && { auditAnnotations }),
      ...(found.length > 0 && { found }),
      ...(details.length > 0 && { detail: details.join("; ") }),
      ...(failed !== undefined && { failed }),
    };
  }
}

/** Why a message that was made is not used; an empty one is meant. */
function unusable(said: Result | undefined): readonly string[] {
  if (said instanceof CelError) return [`messageExpression: ${said.message}`];
  const isMeant = typeof said !== "string" || trimSpace(said) === "" || usableMessage(said) !== undefined;
  return isMeant ? [] : ["messageExpression: its text has several lines, or more than 5 KiB"];
}

/** The parts of an answer beside its words. */
interface Trace extends Findings {
  /** The first annotation of the group that could not be made: what would leave no trace is not allowed. */
  readonly failed?: Pick<Failure, "message" | "cause">;
}

const NO_TRACE: Trace = {};
/** The place of the message among the texts. */
const MESSAGE = 0;

/** The kind of failure of an expression. */
function causeOf(result: Result | undefined): FailureCause {
  if (result instanceof MemberFailure) return result.failure;
  return result instanceof CelError && result.code === "interrupted" ? "timeout" : "expression";
}

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

const ABANDONED = new CelError("the caller no longer waits for the answer");
const nothing = (): void => {};
