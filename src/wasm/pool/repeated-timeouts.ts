import { LRUCache } from "lru-cache";

/** Calls in a row that must have run into their limit: one may be the fault of a busy machine. */
const MIN_TIMEOUTS = 2;
/** Milliseconds after the last time-out until it no longer counts. */
const EXPIRES_AFTER_MS = 60_000;
/** Policies counted; if more of them loop at the same time, no priority helps the others. */
const MAX_POLICIES = 1_000;

/** Policies whose last calls all ran into their time limit: the next call is likely to do so too. */
export class RepeatedTimeouts {
  readonly #timeouts: LRUCache<string, number>;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#timeouts = new LRUCache({ max: MAX_POLICIES, ttl: EXPIRES_AFTER_MS, ttlResolution: 0, perf: { now } });
  }

  /** Whether the policy's last calls ran into their limit. */
  has(policy: string): boolean {
    return this.#timeouts.size > 0 && (this.#timeouts.get(policy) ?? 0) >= MIN_TIMEOUTS;
  }

  /** A call ran into its limit. */
  add(policy: string): void {
    this.#timeouts.set(policy, (this.#timeouts.get(policy) ?? 0) + 1);
  }

  /** A call ended by itself. */
  clear(policy: string): void {
    if (this.#timeouts.size > 0) this.#timeouts.delete(policy);
  }
}
