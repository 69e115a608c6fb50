/** Policies whose last calls all ran into their time limit: the next call is likely to do so too. */
import { LRUCache } from "lru-cache";

/** Calls in a row that must have run into their limit: one may be the fault of a busy machine. */
const TIMEOUTS = 2;
/** Milliseconds for which a policy is suspect. */
const SUSPICION_MS = 60_000;
/** Policies remembered; more than this that loop at the same time are beyond help. */
const REMEMBERED = 1_000;

/** Counts time-outs by policy id. */
export class Suspects {
  readonly #timeouts: LRUCache<string, number>;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#timeouts = new LRUCache({ max: REMEMBERED, ttl: SUSPICION_MS, perf: { now } });
  }

  has(policy: string): boolean {
    return this.#timeouts.size > 0 && (this.#timeouts.get(policy) ?? 0) >= TIMEOUTS;
  }

  /** A call ran into its limit. */
  add(policy: string): void {
    this.#timeouts.set(policy, (this.#timeouts.get(policy) ?? 0) + 1);
  }

  /** A call came to its end by itself. */
  clear(policy: string): void {
    if (this.#timeouts.size > 0) this.#timeouts.delete(policy);
  }
}
