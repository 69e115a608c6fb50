/**
 * The member calls of one evaluation of a group (disposable): every question is put once, however often the expression repeats it.
 */
import { CelError, type JsonRoom, Questions, type Result, toJson, type Value, Waiting } from "../../cel/index.js";
import { stringifyJson } from "../../data/json.js";
import { printedOnce } from "../../data/printed-once.js";
import { BROKEN, evaluateInTime } from "../../policy/evaluate-in-time.js";
import { EvaluationRun } from "../../policy/evaluation-run.js";
import type {
  AdmissionRequest,
  EvaluationContext,
  Failure,
  FailureCause,
  Outcome,
  Review,
} from "../../policy/index.js";
import { SLICE_MS } from "../../policy/turns.js";
import type { GroupMember } from "../kind.js";
import { type MemberAnswer, outcomeInGroup } from "./member.js";

/**
 * The question of `member(value)`: the same request, about another value. `object` (or the raw payload) is the value; its own apiVersion
 * and kind, when it has them, become the request's. Name and namespace stay: the author of the object could choose another Namespace's rules.
 * There is no old object: the value's former state is not known.
 */
function reviewOf(review: Review, value: unknown): Review {
  if (review.kind === "raw") {
    return { kind: "raw", payload: value, requestBytes: printedOnce(value), targeted: true };
  }
  const { oldObject: _, object: __, ...rest } = review.request;
  const kind = kindOf(value);
  // Of a request without an object, such as DELETE, `object` is null: a call about that gives members no object, as a call about the request does.
  const object = value === null ? {} : { object: value };
  const request: AdmissionRequest = { ...rest, ...(kind && { kind, requestKind: kind }), ...object };
  return { kind: "admission", request, requestBytes: printedOnce(request), targeted: true };
}

/** The apiVersion and kind of a Kubernetes object. */
function kindOf(value: unknown): AdmissionRequest["kind"] | undefined {
  const apiVersion = member(value, "apiVersion");
  const kind = member(value, "kind");
  return typeof apiVersion === "string" && typeof kind === "string" ? groupVersionKind(apiVersion, kind) : undefined;
}

function groupVersionKind(apiVersion: string, kind: string): AdmissionRequest["kind"] {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind };
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/**
 * Most different questions that one evaluation may put to members, `member(value)` counting once per value: a list of a hostile object
 * must not start a thousand guests.
 */
export const MAX_MEMBER_CALLS = 256;

/**
 * Characters of all values, each counted once, that one run of the expression may ask members about: twice the largest body that is usual.
 * Reading and printing them holds the main thread, and an expression can make many large values of one object.
 */
export const MAX_ASKED_CHARACTERS = 4 * 1024 * 1024;

/**
 * Characters up to which a part of the request is the same question as another with the same text. Longer ones, which take milliseconds to
 * print, are the same only if they are the same object.
 */
const LONGEST_COMPARED = 64 * 1024;

/** A member with the name under which it is observed: made once, since counters are kept by the object. */
export interface ObservedMember extends GroupMember {
  readonly observedAs: string;
}

/** Circumstances of a group's evaluation. */
export interface MemberCallsOptions {
  readonly members: ReadonlyMap<string, ObservedMember>;
  readonly review: Review;
  readonly context: EvaluationContext;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** A value that members are asked about. */
interface Subject {
  readonly data: unknown;
  /** The number of the value; values with the same text have the same. */
  readonly id: number;
}

/** The answers so far, in order of arrival. */
export class MemberCalls {
  /** The questions by the member's name, with the value's number when it is asked about a value. */
  readonly questions = new Questions(MAX_MEMBER_CALLS);
  readonly #options: MemberCallsOptions;
  /** A list of the size that most need: one that grows takes room for sixteen more. */
  #answers: MemberAnswer[] | undefined;
  /** Objects, lists and texts are read and printed once: a loop may use the same one many times. */
  #objects: WeakMap<object, Subject> | undefined;
  #texts: Map<string, Subject> | undefined;
  /** The values' numbers by their JSON texts. Made at first use, as the others: most expressions pass no values. */
  #ids: Map<string | symbol, number> | undefined;
  /** The remaining size of values in this run; absent: no value was converted yet. */
  #room: JsonRoom | undefined;
  /** The end of the slice that began with the first question of this run. */
  #sliceEnds: number | undefined;
  /** Whether a member answered so late, or a value took so long, that others must have their turn before the next question. */
  #late = false;

  constructor(options: MemberCallsOptions) {
    this.#options = options;
  }

  /** Must be called before each run of the expression, */
  begin(): void {
    this.#room = undefined;
    this.goOn();
  }

  /** and before a paused one is resumed: others had their turn. */
  goOn(): void {
    this.#late = false;
    this.#sliceEnds = undefined;
  }

  /** Every answer of every member that was asked. */
  get answers(): readonly MemberAnswer[] {
    return this.#answers ?? NONE;
  }

  /**
   * The value of `name()` or `name(value)`: true for allow and skip, false for deny, an error for a failure; waiting while a policy that needs time
   * is at work.
   */
  ask(name: string, value: Value | undefined): Result | Waiting {
    const member = this.#options.members.get(name);
    if (member === undefined) return new CelError(`unknown member '${name}'`);
    if (value === undefined) return this.#put(member, name, undefined);
    const subject = this.#known(value) ?? this.#subjectOf(value, name);
    return subject instanceof CelError ? subject : this.#put(member, `${name} ${subject.id}`, subject);
  }

  #known(value: Value): Subject | undefined {
    if (typeof value === "string") return this.#texts?.get(value);
    return typeof value === "object" && value !== null ? this.#objects?.get(value) : undefined;
  }

  /** The value as a subject. Once the time is up, or no further question is allowed, nothing is printed. */
  #subjectOf(value: Value, asked: string): Subject | CelError {
    const { context, now } = this.#options;
    if (this.questions.full) return new CelError(TOO_MANY.message);
    const started = now();
    if (started > context.deadline) return new CelError("operation interrupted", "interrupted");
    this.#sliceEnds ??= started + SLICE_MS;
    this.#room ??= { left: MAX_ASKED_CHARACTERS, plain: true };
    const room = this.#room;
    const { left } = room;
    room.plain = true;
    const data = toJson(value, room);
    if (data instanceof CelError) return new CelError(`${asked}(): ${data.message}`);
    // Plain objects are parts of the request, and the same in every round; lists and maps may have been made by the expression.
    const own = data === value && !Array.isArray(data) && typeof data === "object";
    // The next round finds the subject already made.
    if (own && now() > this.#sliceEnds) this.#late = true;
    const subject = { data, id: this.#idOf(data, own && left - room.left > LONGEST_COMPARED, room.plain) };
    if (typeof value === "string") {
      this.#texts ??= new Map();
      this.#texts.set(value, subject);
    } else if (typeof value === "object" && value !== null) {
      this.#objects ??= new WeakMap();
      this.#objects.set(value, subject);
    }
    return subject;
  }

  /** The number of data; the same for data with the same text, unless it is unique. */
  #idOf(data: unknown, unique: boolean, plain: boolean): number {
    const text = unique ? Symbol() : stringifyJson(data, plain);
    this.#ids ??= new Map();
    const id = this.#ids.get(text) ?? this.#ids.size;
    this.#ids.set(text, id);
    return id;
  }

  #put(member: ObservedMember, key: string, subject: Subject | undefined): Result | Waiting {
    const answer = this.questions.recall<Outcome>(key) ?? this.#answerOf(member, key, subject);
    if (answer === TOO_MANY) return new CelError(TOO_MANY.message);
    return answer instanceof Waiting ? answer : resultOf(member.name, answer);
  }

  /** Puts a question that was not put before. Most members answer at once. */
  #answerOf(member: ObservedMember, key: string, subject: Subject | undefined): Outcome | Waiting {
    const { questions } = this;
    const { turns } = this.#options.context;
    if (this.#late && turns !== undefined) return questions.pause(turns);
    if (questions.full) return TOO_MANY;
    const outcome = this.#evaluate(member, subject);
    // By contract it never rejects.
    if (outcome instanceof Promise) return questions.ask({ key, put: () => outcome, failed: () => BROKEN });
    questions.remember(key, outcome);
    return outcome;
  }

  /** Asks a member, about the request or about a value. */
  #evaluate(member: ObservedMember, subject: Subject | undefined): Outcome | Promise<Outcome> {
    const { context, now, review } = this.#options;
    const started = now();
    this.#sliceEnds ??= started + SLICE_MS;
    const run = EvaluationRun.within(context, started + member.timeout);
    const about = subject === undefined ? review : reviewOf(review, subject.data);
    const outcome = evaluateInTime(member.policy, about, run, now);
    return outcome instanceof Promise
      ? outcome.then((settled) => this.#record(member, settled, started, run.ended))
      : this.#record(member, outcome, started, run.ended);
  }

  #record(
    { name, observedAs }: ObservedMember,
    answered: Outcome,
    started: number,
    ended: number = this.#options.now(),
  ): Outcome {
    const { context } = this.#options;
    const outcome = outcomeInGroup(answered);
    if (this.#sliceEnds !== undefined && ended > this.#sliceEnds) this.#late = true;
    const answer = { member: name, outcome };
    if (this.#answers === undefined) this.#answers = [answer];
    else this.#answers.push(answer);
    context.observe?.({ policy: observedAs, outcome, milliseconds: ended - started, member: true });
    return outcome;
  }
}

const NONE: readonly MemberAnswer[] = [];

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

/** The error of a member that failed, distinct from errors of the expression itself. */
export class MemberFailure extends CelError {
  /** The cause of the failure. */
  readonly failure: FailureCause;

  constructor(message: string, failure: FailureCause) {
    super(message);
    this.failure = failure;
  }
}
