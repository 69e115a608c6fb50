import { LRUCache } from "lru-cache";

/** Calls in a row that must have timed out: one may be the fault of a busy machine. */
const MIN_TIMEOUTS = 2;
/** Milliseconds after the last time-out until it no longer counts. */
const EXPIRES_AFTER_MS = 60_000;
/** Policies remembered in each of the two lists; of others the pool knows nothing, as of new ones. */
const MAX_POLICIES = 1_000;
/** A call may take so many times as long as the longest of its policy before it counts as one that takes too long. */
const LONGEST_FACTOR = 2;
/** Milliseconds of computing that every call has at least before it does: the cold start of most guests. */
const LEAST_EARLY_MS = 100;
/** For the check of settings, a module's first call, for which the engine compiles its functions. */
const CHECK_EARLY_MS = 1_000;

/** What the pool remembers of each policy's calls. */
export class History {
  /** Time-outs in a row. */
  readonly #timeouts: LRUCache<string, number>;
  /** The longest that a call has computed which ended by itself, where that matters. */
  readonly #longest = new LRUCache<string, number>({ max: MAX_POLICIES });

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#timeouts = new LRUCache({ max: MAX_POLICIES, ttl: EXPIRES_AFTER_MS, ttlResolution: 0, perf: { now } });
  }

  /** Whether the policy's last calls all timed out, a short time ago: the next one is likely to do so too. */
  timesOut(policy: string): boolean {
    return this.#timeouts.size > 0 && (this.#timeouts.get(policy) ?? 0) >= MIN_TIMEOUTS;
  }

  /**
   * Milliseconds of computing for which the next call is nothing out of the usual.
   * @param isCheck whether it is a check of settings
   */
  earlyMs(policy: string, isCheck: boolean): number {
    if (this.timesOut(policy)) return 0;
    const longest = this.#longest.get(policy) ?? 0;
    return Math.max(isCheck ? CHECK_EARLY_MS : LEAST_EARLY_MS, LONGEST_FACTOR * longest);
  }

  /** A call has timed out on its thread. */
  timedOut(policy: string): void {
    this.#timeouts.set(policy, (this.#timeouts.get(policy) ?? 0) + 1);
  }

  /** A call has ended by itself. */
  ended(policy: string, computedMs: number): void {
    if (this.#timeouts.size > 0) this.#timeouts.delete(policy);
    if (LONGEST_FACTOR * computedMs <= LEAST_EARLY_MS) return;
    if (computedMs > (this.#longest.get(policy) ?? 0)) this.#longest.set(policy, computedMs);
  }
}
