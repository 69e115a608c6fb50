/** Answers for those who ask synchronously and come again: the first time they wait, the next time the answer is there. */
import { LRUCache } from "lru-cache";
import { reasonOf } from "../kubernetes/client/errors.js";
import { FAILURE_KEPT_MS, MAX_ANSWERS } from "../kubernetes/client/limits.js";
import { type Lookup, LookupFailure, Pending } from "./resources/resource-source.js";

type Entry<V> = { readonly pending: Pending } | { readonly answer: V | undefined | LookupFailure };

/** One sort of answers. Those who ask the same at the same time wait for one execution. */
export class LookUps<V> {
  private readonly entries: LRUCache<string, Entry<V>>;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.entries = new LRUCache({ max: MAX_ANSWERS, ttl: FAILURE_KEPT_MS, ttlResolution: 0, perf: { now } });
  }

  /**
   * The kept answer, or what to wait for.
   * @param execute ends by itself; its rejection is the failure
   * @param keptMs how long an answer is kept from its arrival
   */
  ask(key: string, execute: () => Promise<V | undefined>, keptMs: (answer: V | undefined) => number): Lookup<V> {
    const entry = this.entries.get(key);
    if (entry !== undefined) return "pending" in entry ? entry.pending : entry.answer;
    const ready = execute().then(
      (answer) => this.entries.set(key, { answer }, { ttl: keptMs(answer) }),
      (error: unknown) => this.entries.set(key, { answer: new LookupFailure(reasonOf(error)) }),
    );
    const pending = new Pending(ready);
    // It ends by itself, so that it need not be forgotten earlier.
    this.entries.set(key, { pending }, { ttl: 0 });
    return pending;
  }
}
