import { LRUCache } from "lru-cache";

/** Policies remembered; those asked least recently are tried again. */
const MAX_POLICIES = 10_000;

/**
 * Policies that have answered, and not timed out since: the next call is likely to be answered too. Of any other policy nothing is known, and its
 * calls must not take all threads.
 */
export class KnownPolicies {
  readonly #known = new LRUCache<string, true>({ max: MAX_POLICIES });

  /** Whether the policy has answered, and not timed out since. */
  has(policy: string): boolean {
    return this.#known.get(policy) === true;
  }

  /** A call has ended by itself. */
  add(policy: string): void {
    // Usually it is there, and reading costs less.
    if (!this.#known.has(policy)) this.#known.set(policy, true);
  }

  /** A call ran into its limit. */
  delete(policy: string): void {
    this.#known.delete(policy);
  }
}
