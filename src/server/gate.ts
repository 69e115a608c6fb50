/**
 * Limits concurrent evaluations. Beyond the limit requests wait in a bounded queue, first come first served; beyond that they are refused at
 * once, which a client can act on, instead of late, which it can't. One policy can't take every place: while it keeps its guests busy
 * others still get theirs.
 */
import { overloaded, type RequestProblem, unavailable } from "../admission/request-problem.js";

/** Limits of a gate. */
export interface GateLimits {
  /** Most evaluations under way. */
  readonly concurrency: number;
  /** Most requests that may wait. */
  readonly queue: number;
  /** Most milliseconds that a request waits when its client sends no time-out. */
  readonly queueTimeout: number;
}

/** More than the workers of a big node can have under way, few enough that their objects fit in memory. */
export const DEFAULT_CONCURRENCY = 128;
/** About what a busy node answers in a second or two of slow WASM calls. */
export const DEFAULT_QUEUE = 1024;
/** The API server's own default patience with a webhook. */
export const DEFAULT_QUEUE_TIMEOUT_MS = 10_000;

/** Why a request is refused. */
export type Refusal = "full" | "late";

/** A request that waits for admission. */
export interface Candidate {
  /** The key by which places are shared. */
  readonly policy: string;
  /** Monotonic milliseconds at which waiting is pointless. */
  readonly deadline: number;
  /** Runs with a place taken; it must call `leave` exactly once. */
  readonly enter: (waited: number) => void;
  readonly refuse: (why: Refusal) => void;
}

interface Queued {
  readonly candidate: Candidate;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
}

/** Admits evaluations. */
export class Gate {
  readonly limits: GateLimits;
  readonly #now: () => number;
  /** Most places for one policy: half, so that there is always room for another. */
  readonly #share: number;
  readonly #waiting = new Set<Queued>();
  readonly #busyBy = new Map<string, number>();
  #busy = 0;

  constructor(limits: GateLimits, now: () => number = () => performance.now()) {
    this.limits = limits;
    this.#now = now;
    this.#share = Math.max(1, Math.ceil(limits.concurrency / 2));
  }

  /** Number of evaluations under way. */
  get busy(): number {
    return this.#busy;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Admits the candidate now or later, or refuses it.
   * @returns when it has to wait, a function that removes it from the queue
   */
  admit(candidate: Candidate): (() => void) | undefined {
    if (this.#hasPlace(candidate.policy)) {
      this.take(candidate.policy);
      candidate.enter(0);
      return undefined;
    }
    if (this.#waiting.size >= this.limits.queue) {
      candidate.refuse("full");
      return undefined;
    }
    const now = this.#now();
    const patience = Math.min(this.limits.queueTimeout, candidate.deadline - now);
    const waiting: Queued = { candidate, since: now, timer: setTimeout(() => this.#giveUp(waiting), patience) };
    this.#waiting.add(waiting);
    return () => {
      clearTimeout(waiting.timer);
      this.#waiting.delete(waiting);
    };
  }

  /** Takes a place without waiting: for a policy that usually answers at once and now has to wait. */
  take(policy: string): void {
    this.#busy += 1;
    this.#busyBy.set(policy, (this.#busyBy.get(policy) ?? 0) + 1);
  }

  /** Returns a place, and gives it to the next in the queue that may have it. */
  leave(policy: string): void {
    this.#busy -= 1;
    const left = (this.#busyBy.get(policy) ?? 1) - 1;
    if (left === 0) this.#busyBy.delete(policy);
    else this.#busyBy.set(policy, left);
    for (const waiting of this.#waiting) {
      if (this.#busy >= this.limits.concurrency) return;
      if (this.#hasPlace(waiting.candidate.policy)) this.#letIn(waiting);
    }
  }

  #hasPlace(policy: string): boolean {
    return this.#busy < this.limits.concurrency && (this.#busyBy.get(policy) ?? 0) < this.#share;
  }

  #letIn(waiting: Queued): void {
    this.#waiting.delete(waiting);
    clearTimeout(waiting.timer);
    this.take(waiting.candidate.policy);
    waiting.candidate.enter(this.#now() - waiting.since);
  }

  #giveUp(waiting: Queued): void {
    this.#waiting.delete(waiting);
    waiting.candidate.refuse("late");
  }
}

/** The text of a refusal, with the limits, and the options that set them. */
export function refusalText(why: Refusal, { concurrency, queue }: GateLimits): RequestProblem {
  const places = `of ${concurrency} places (--max-concurrent-requests)`;
  return why === "full"
    ? overloaded(
        `too many requests: the policy has its part ${places}, or all are taken, and ${queue} wait (--max-queued-requests), try again later`,
      )
    : unavailable(`overloaded: no policy evaluation could be started in time, for lack ${places}, try again later`);
}
