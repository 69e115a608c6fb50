/**
 * Answers kept for a while, shared by all policies (permissions are checked before). Only successes are kept; callers that ask the same at
 * the same time wait for one execution. Spec kubewarden.md 7.2.
 */
import { LRUCache } from "lru-cache";

/** Answers kept at most: each is a few KiB, a Kubernetes object at most a few MiB. */
const ANSWERS = 1_000;
/** Milliseconds an execution may take. It is not tied to the guest that asked first, because others may be waiting for it too. */
const EXECUTION_MS = 30_000;

/** One kind of answers with one lifetime. */
export class AnswerCache<V extends object> {
  private readonly answers: LRUCache<string, V>;
  private readonly underWay = new Map<string, Promise<V>>();

  /**
   * @param milliseconds how long an answer is kept
   * @param now monotonic milliseconds
   */
  constructor(milliseconds: number, now: () => number) {
    this.answers = new LRUCache({ max: ANSWERS, ttl: milliseconds, ttlResolution: 0, perf: { now } });
  }

  /** The kept answer, or that of an execution. */
  get(key: string, execute: (signal: AbortSignal) => Promise<V>): Promise<V> {
    const kept = this.answers.get(key);
    return kept === undefined ? this.fresh(key, execute) : Promise.resolve(kept);
  }

  /** The answer of an execution, whether or not one is kept. */
  fresh(key: string, execute: (signal: AbortSignal) => Promise<V>): Promise<V> {
    const running = this.underWay.get(key);
    if (running) return running;
    const execution = execute(AbortSignal.timeout(EXECUTION_MS))
      .then((answer) => {
        this.answers.set(key, answer);
        return answer;
      })
      .finally(() => this.underWay.delete(key));
    this.underWay.set(key, execution);
    return execution;
  }
}
