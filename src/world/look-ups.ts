import { LRUCache } from "lru-cache";
import { FAILURE_KEPT_MS, MAX_ANSWERS } from "../kubernetes/client/limits.js";
import type { Eventual } from "./eventual.js";
import { type Lookup, LookupFailure, lookupFailureOf } from "./resources/resource-source.js";

/** An entry of its own, because the cache takes `undefined` for nothing. */
interface Entry<V> {
  readonly answer: Eventual<Lookup<V>>;
}

/** How much is kept. */
export interface LookUpBounds<V> {
  /** Most answers; default {@link MAX_ANSWERS}. */
  readonly max?: number;
  /** Bytes, about, for answers whose size somebody else chooses; absent: their number is bound enough. */
  readonly room?: {
    readonly bytes: number;
    /** One that is larger is not kept; default all of it. */
    readonly each?: number;
    sizeOf(answer: V): number;
  };
}

/** Answers that are kept for a while. Those who ask the same at the same time wait for one execution. */
export class LookUps<V> {
  readonly #make: () => LRUCache<string, Entry<V>>;
  /** Made when something is asked: it takes room for all answers at once, and most policies ask nothing. */
  #made: LRUCache<string, Entry<V>> | undefined;

  /** @param now monotonic milliseconds */
  constructor(now: () => number, { max = MAX_ANSWERS, room }: LookUpBounds<V> = {}) {
    this.#make = () =>
      new LRUCache({
        max,
        ttl: FAILURE_KEPT_MS,
        ttlResolution: 0,
        // Names may come from requests: what nobody asks for again must not stay until others push it out.
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

  /** Answers that are kept, those on their way included. */
  get size(): number {
    return this.#made?.size ?? 0;
  }

  /** Forgets an answer. */
  forget(key: string): void {
    this.#made?.delete(key);
  }

  get #entries(): LRUCache<string, Entry<V>> {
    this.#made ??= this.#make();
    return this.#made;
  }

  /**
   * The kept answer, or the promise of one, which never rejects.
   * @param execute ends by itself; its rejection is a {@link import("./resources/resource-source.js").LookupFailure}
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
    // It ends by itself, so that it need not be forgotten earlier.
    this.#entries.set(key, { answer }, { ttl: 0 });
    return answer;
  }
}

const isValue = <V>(answer: Eventual<Lookup<V>>): answer is V =>
  answer !== undefined && !(answer instanceof Promise) && !(answer instanceof LookupFailure);
