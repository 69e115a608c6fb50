/**
 * How much is evaluated at a time. Beyond the limit requests wait in a bounded line, first come first served; beyond that they are refused at
 * once, which a client can act on, instead of late, which it can't. One policy can't take every place: while it keeps its guests busy
 * others still get theirs.
 */

/** Limits of a gate. */
export interface GateLimits {
  /** Evaluations that may be under way. */
  readonly concurrency: number;
  /** Requests that may wait. */
  readonly queue: number;
  /** Milliseconds a request waits at most when its client doesn't say how long it will. */
  readonly queueTimeout: number;
}

/** More than the workers of a big node can have under way, few enough that their objects fit in memory. */
export const DEFAULT_CONCURRENCY = 128;
/** About what a busy node answers in a second or two of slow WASM calls. */
export const DEFAULT_QUEUE = 1024;
/** The API server's own default patience with a webhook. */
export const DEFAULT_QUEUE_TIMEOUT_MS = 10_000;

/** Why a request doesn't get in. */
export type Refusal = "full" | "late";

/** Who wants in. */
export interface Candidate {
  /** Places are shared by this. */
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

/** Lets evaluations in. */
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

  /** Evaluations under way. */
  get busy(): number {
    return this.#busy;
  }

  /** Requests in line. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Lets the candidate in now or later, or refuses it.
   * @returns when it has to wait, a function that takes it out of the line again
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

  /** Takes a place without asking: for a policy that usually answers at once and now has to wait. */
  take(policy: string): void {
    this.#busy += 1;
    this.#busyBy.set(policy, (this.#busyBy.get(policy) ?? 0) + 1);
  }

  /** Gives a place back, and it to the next in line that may have it. */
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
