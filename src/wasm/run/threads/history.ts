import { LRUCache } from "lru-cache";

/** Time-outs in a row that count: one may be due to a busy machine. For a policy that has never answered, one is enough. */
const MIN_TIMEOUTS = 2;
/** Milliseconds after the last time-out until it no longer counts. */
const EXPIRES_AFTER_MS = 60_000;
/** Most policies that are remembered, with their checks; others count as new. */
const MAX_POLICIES = 10_000;
/** With `max` a cache allocates room for all of them at once: milliseconds of every start. */
const AT_MOST_POLICIES = { maxSize: MAX_POLICIES, sizeCalculation: () => 1 };
/** Duration of a call that counts as too long, as a multiple of its policy's longest call. */
const LONGEST_FACTOR = 2;
/** Milliseconds of computing that every call has at least before it does: most guests start cold in less. */
const LEAST_EARLY_MS = 50;
/** Number of calls that capturing and testing a state takes, on a processor that others need, too. */
const STATE_FACTOR = 40;
/** The same for the check of settings, a module's first call, for which the engine compiles its functions. */
const CHECK_EARLY_MS = 1_000;

/**
 * The key of checks of a policy's settings: requests don't wait behind the check of a reload, and its time-outs say nothing about them. No policy's
 * id ends in a slash.
 */
export const checkKey = (policy: string): string => `${policy}/`;
const policyOf = (key: string): string => (key.endsWith("/") ? key.slice(0, -1) : key);

/** The pool's records of each policy's calls. */
export class History {
  /** Time-outs in a row. */
  readonly #timeouts: LRUCache<string, number>;
  /** Longest computing time of a call that ended by itself. */
  readonly #longest = new LRUCache<string, number>(AT_MOST_POLICIES);

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#timeouts = new LRUCache({ ...AT_MOST_POLICIES, ttl: EXPIRES_AFTER_MS, ttlResolution: 0, perf: { now } });
  }

  /** Whether the policy's last calls all timed out, a short time ago: the next one is likely to do so too. */
  timesOut(policy: string): boolean {
    return this.#timeouts.size > 0 && (this.#timeouts.get(policy) ?? 0) >= MIN_TIMEOUTS;
  }

  /**
   * Milliseconds of computing for which the next call counts as usual.
   * @param isCheck whether it is a check of settings
   */
  earlyMs(policy: string, isCheck: boolean): number {
    if (this.timesOut(policy)) return 0;
    return Math.max(isCheck ? CHECK_EARLY_MS : LEAST_EARLY_MS, LONGEST_FACTOR * this.#longestOf(policy));
  }

  /**
   * The same for taking a policy's state. It makes all later calls shorter, but a policy that never ends would take half of a processor for minutes.
   * @param key the key of its checks
   */
  earlyMsOfState(key: string): number {
    const policy = policyOf(key);
    return this.timesOut(policy) ? 0 : Math.max(CHECK_EARLY_MS, STATE_FACTOR * this.#longestOf(policy));
  }

  /** The longest call; a policy's first request is likely to take about as long as the check of its settings. */
  #longestOf(policy: string): number {
    return Math.max(this.#longest.get(policy) ?? 0, this.#longest.get(checkKey(policy)) ?? 0);
  }

  /** Notes a time-out of a call on its thread. */
  timedOut(policy: string): void {
    const before = this.#timeouts.get(policy) ?? 0;
    this.#timeouts.set(policy, this.#longest.has(policy) ? before + 1 : MIN_TIMEOUTS);
  }

  /** Notes a call that has ended by itself. */
  ended(policy: string, computedMs: number): void {
    if (this.#timeouts.size > 0) this.#timeouts.delete(policy);
    // Usually it is not longer, and reading costs less.
    if (computedMs > (this.#longest.get(policy) ?? -1)) this.#longest.set(policy, computedMs);
  }
}
