import { LRUCache } from "lru-cache";
import { FAILURE_KEPT_MS, MAX_ANSWERS } from "../kubernetes/client/limits.js";
import type { Eventual } from "./eventual.js";
import { type Lookup, LookupFailure, lookupFailureOf } from "./resources/resource-source.js";

/** An object around the value, because the cache treats `undefined` as nothing. */
interface Entry<V> {
  readonly answer: Eventual<Lookup<V>>;
}

/** The limits of what is kept. */
export interface LookUpBounds<V> {
  /** Most answers; default {@link MAX_ANSWERS}. */
  readonly max?: number;
  /** Bytes, about, for answers whose size others choose; absent: the limit of their number is enough. */
  readonly room?: {
    readonly bytes: number;
    /** Most bytes of one answer that is kept; default all of it. */
    readonly each?: number;
    sizeOf(answer: V): number;
  };
}

/** Answers that are kept for a while. Callers with the same question at the same time share one execution. */
export class LookUps<V> {
  readonly #make: () => LRUCache<string, Entry<V>>;
  /** Made at the first question: it allocates memory for all answers at once, and most policies ask nothing. */
  #made: LRUCache<string, Entry<V>> | undefined;

  /** @param now monotonic milliseconds */
  constructor(now: () => number, { max = MAX_ANSWERS, room }: LookUpBounds<V> = {}) {
    this.#make = () =>
      new LRUCache({
        max,
        ttl: FAILURE_KEPT_MS,
        ttlResolution: 0,
        // Names may come from requests: unused answers must not stay until others replace them.
        ttlAutopurge: true,
        perf: { now },
        ...(room && {
          maxSize: room.bytes,
          maxEntrySize: room.each ?? room.bytes,
          sizeCalculation: ({ answer }: Entry<V>, key: string) =>
            1 + key.length + (isValue(answer) ? room.sizeOf(answer) : 0),
        }),
      });
  }

  /** Number of answers kept, awaited ones included. */
  get size(): number {
    return this.#made?.size ?? 0;
  }

  /** Removes an answer. */
  forget(key: string): void {
    this.#made?.delete(key);
  }

  get #entries(): LRUCache<string, Entry<V>> {
    this.#made ??= this.#make();
    return this.#made;
  }

  /**
   * The kept answer, or the promise of one, which never rejects.
   * @param execute ends by itself; its rejection becomes a {@link import("./resources/resource-source.js").LookupFailure}
   * @param keptMs how long an answer is kept from its arrival
   */
  ask(
    key: string,
    execute: () => Promise<V | undefined>,
    keptMs: (answer: V | undefined) => number,
  ): Eventual<Lookup<V>> {
    const entry = this.#entries.get(key);
    if (entry !== undefined) return entry.answer;
    const answer = execute().then(
      (arrived): Lookup<V> => {
        this.#entries.set(key, { answer: arrived }, { ttl: keptMs(arrived) });
        return arrived;
      },
      (error: unknown): Lookup<V> => {
        const failure = lookupFailureOf(error);
        this.#entries.set(key, { answer: failure });
        return failure;
      },
    );
    // It ends by itself, so that it need not be removed earlier.
    this.#entries.set(key, { answer }, { ttl: 0 });
    return answer;
  }
}

const isValue = <V>(answer: Eventual<Lookup<V>>): answer is V =>
  answer !== undefined && !(answer instanceof Promise) && !(answer instanceof LookupFailure);
