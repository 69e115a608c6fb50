/**
 * Evaluates versions in shadow, once a request has been answered and the main thread is idle: one per turn of the event loop, from a short queue. A
 * version that finds no room in it, or no time, is skipped, and counted as skipped: no answer to a client waits for a shadow.
 */
import { evaluateInTime } from "../../evaluate-in-time.js";
import { EvaluationRun } from "../../evaluation-run.js";
import type { Outcome } from "../../outcome.js";
import type { Review } from "../../review.js";
import type { Turns } from "../../turns.js";
import type { PolicySet, ShadowVersion } from "../policy-set.js";
import { decide, type RequestOrigin, type Verdict } from "../verdict.js";
import { type ShadowExample, type ShadowResult, ShadowTally } from "./tally.js";

/** Characters of a message: a policy may answer with megabytes. */
const MESSAGE_CHARACTERS = 256;
/** Longest name that Kubernetes has; a sender may write more. */
const NAME_CHARACTERS = 253;
/** As in the decision record: a policy's message about a Secret is not shown. */
const REDACTED = "[redacted]";

/**
 * Makes an example.
 * @param says the answer whose message is the reason
 */
function exampleOf(review: Review, at: number, result: ShadowExample["result"], says: Verdict): ShadowExample {
  const message = says.response.status?.message ?? says.vanilla.status?.message;
  if (review.kind !== "admission") return { at, result, ...(message !== undefined && { message: cut(message) }) };
  const { operation, kind, namespace, name } = review.request;
  const isSecret = kind.group === "" && kind.kind === "Secret";
  return {
    at,
    result,
    operation: cut(operation),
    kind: cut(kind.kind),
    ...(namespace !== undefined && { namespace: cut(namespace, NAME_CHARACTERS) }),
    ...(name !== undefined && { name: cut(name, NAME_CHARACTERS) }),
    ...(message !== undefined && { message: isSecret ? REDACTED : cut(message) }),
  };
}

function cut(text: string, characters = MESSAGE_CHARACTERS): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}

/** Requests that wait for their shadows: as many as a busy process answers in a tenth of a second. */
export const MAX_WAITING = 256;
/** Bytes of their bodies, which take several times as much when they are parsed. */
export const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Milliseconds after which a request is no longer evaluated: the cluster that both versions look at has changed, and their answers would differ for that. */
export const PATIENCE_MS = 5000;
/** Milliseconds until a busy process is checked again. */
const RETRY_MS = 5;
/** Most evaluations that wait, for a cluster or HTTP. Guests hold threads: one at a time. */
const MAX_UNDER_WAY = 4;

/** Options of the queue. */
export interface ShadowQueueOptions {
  /** Milliseconds an evaluation may take when its entry says nothing. */
  readonly policyTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly turns: Turns;
  readonly onDefect: (policy: string, error: unknown) => void;
  /** Receives each counted result. */
  readonly onResult: (policy: string, result: ShadowResult) => void;
}

/** A request that has been answered. */
export interface Answered {
  readonly review: Review;
  readonly origin: RequestOrigin;
  readonly verdict: Verdict;
  /** Size of its body. */
  readonly bytes: number;
}

interface Waiting extends Answered {
  readonly shadow: ShadowVersion;
  /** Monotonic milliseconds. */
  readonly since: number;
}

/** The shadows of all policies of a process. */
export class ShadowQueue {
  /**
   * Whether the main thread is needed otherwise, or, for a policy that does not answer at once, the guests' threads.
   * @param isImmediate whether the policy answers at once
   */
  isBusy: (isImmediate: boolean) => boolean = () => false;
  readonly tally = new ShadowTally();
  readonly #options: ShadowQueueOptions;
  readonly #waiting: Waiting[] = [];
  #bytes = 0;
  #underWay = 0;
  #guests = 0;
  #isDue = false;

  constructor(options: ShadowQueueOptions) {
    this.#options = options;
  }

  /** Number of requests whose shadows have not answered yet. */
  get waiting(): number {
    return this.#waiting.length + this.#underWay;
  }

  /** Counts answers of these policies from now on. */
  follow(policies: PolicySet): void {
    this.tally.follow(policies, this.#options.wall());
  }

  /** Queues an answered request for the shadow of its policy, if there is room. */
  offer(shadow: ShadowVersion, answered: Answered): void {
    // Without a decision of its own there is nothing to compare.
    const { outcome } = answered.verdict;
    const isCutShort = outcome.verdict === "error" && (outcome.cause === "abandoned" || outcome.cause === "overload");
    if (isCutShort || this.#waiting.length >= MAX_WAITING || this.#bytes + answered.bytes > MAX_WAITING_BYTES) {
      this.#count(shadow, "notEvaluated");
      return;
    }
    this.#bytes += answered.bytes;
    this.#waiting.push({ shadow, since: this.#options.now(), ...answered });
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    setImmediate(this.#step);
  }

  readonly #step = (): void => {
    this.#isDue = false;
    this.#dropLate();
    const next = this.#next();
    if (next !== undefined) {
      this.#ask(next);
      this.#goOn();
    } else if (this.#waiting.length > 0) {
      this.#isDue = true;
      setTimeout(this.#step, RETRY_MS).unref();
    }
  };

  #dropLate(): void {
    const oldest = this.#options.now() - PATIENCE_MS;
    for (let first = this.#waiting[0]; first !== undefined && first.since < oldest; first = this.#waiting[0]) {
      this.#waiting.shift();
      this.#bytes -= first.bytes;
      this.#count(first.shadow, "notEvaluated");
    }
  }

  /** Takes out the first request that may be evaluated now. */
  #next(): Waiting | undefined {
    if (this.#underWay >= MAX_UNDER_WAY || this.isBusy(true)) return undefined;
    const guestsWait = this.#guests > 0 || this.isBusy(false);
    const index = this.#waiting.findIndex(({ shadow }) => shadow.entry.policy.immediate || !guestsWait);
    const [next] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (next !== undefined) this.#bytes -= next.bytes;
    return next;
  }

  #ask(asked: Waiting): void {
    const { now, policyTimeout, onDefect, turns } = this.#options;
    const { entry } = asked.shadow;
    const run = new EvaluationRun(now() + (entry.timeout ?? policyTimeout), onDefect, turns.behind);
    const outcome = evaluateInTime(entry.policy, asked.review, run, now);
    if (!(outcome instanceof Promise)) {
      this.#compare(asked, outcome);
      return;
    }
    const guests = entry.policy.immediate ? 0 : 1;
    this.#underWay += 1;
    this.#guests += guests;
    outcome
      .then((settled) => this.#compare(asked, settled))
      .finally(() => {
        this.#underWay -= 1;
        this.#guests -= guests;
        this.#goOn();
      });
  }

  #compare({ shadow, review, origin, verdict }: Waiting, outcome: Outcome): void {
    let wouldBe: Verdict;
    try {
      wouldBe = decide(shadow.entry, review, outcome, origin, UNMEASURED);
    } catch (error) {
      // An outcome that can't be turned into an answer.
      this.#options.onDefect(shadow.entry.id, error);
      this.#count(shadow, "failed");
      return;
    }
    const result = resultOf(verdict, wouldBe);
    if (result === "agreed") {
      this.#count(shadow, result);
      return;
    }
    const says = result === "wouldAllow" ? verdict : wouldBe;
    this.#count(shadow, result, exampleOf(review, this.#options.wall(), result, says));
  }

  #count({ entry, version }: ShadowVersion, result: ShadowResult, example?: ShadowExample): void {
    if (this.tally.count(entry.id, version, result, example)) this.#options.onResult(entry.id, result);
  }
}

/** Times of a shadow's answer, which are not measured, since it is not sent. */
const UNMEASURED = { milliseconds: 0, observations: [], deadline: Number.POSITIVE_INFINITY };

function resultOf(given: Verdict, wouldBe: Verdict): "agreed" | ShadowExample["result"] {
  if (wouldBe.outcome.verdict === "error") return "failed";
  if (given.response.allowed === wouldBe.response.allowed) return "agreed";
  return given.response.allowed ? "wouldDeny" : "wouldAllow";
}
