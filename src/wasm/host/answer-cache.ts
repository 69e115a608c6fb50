import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { stringifyJson } from "../../data/json.js";

/** Most answers that are kept: each is a few KiB. */
const ANSWERS = 1_000;
/** Most characters of JSON that are kept: a registry that a request names may answer with manifests of 256 KiB, thousands of them. */
const ANSWER_CHARACTERS = 32 * 1024 * 1024;
/** Longest question that is its own key; longer ones (guests can make them a MiB long) have their hash as key. */
const KEY_CHARACTERS = 1_000;
/** Milliseconds an execution may take. It does not depend on the guest that asked first, because others may wait for it, too. */
const EXECUTION_MS = 30_000;

/**
 * Answers kept for a while, shared by all policies (permissions are checked before). Only successes are kept; callers that ask the same at
 * the same time wait for one execution. Spec kubewarden.md 7.2.
 */
export class AnswerCache<V extends object> {
  readonly #answers: LRUCache<string, V>;
  readonly #underWay = new Map<string, Promise<V>>();

  /**
   * @param milliseconds how long an answer is kept
   * @param now monotonic milliseconds
   */
  constructor(milliseconds: number, now: () => number) {
    this.#answers = new LRUCache({
      max: ANSWERS,
      maxSize: ANSWER_CHARACTERS,
      sizeCalculation: (answer, key) => key.length + stringifyJson(answer).length,
      ttl: milliseconds,
      ttlResolution: 0,
      perf: { now },
    });
  }

  /** Answers and their questions that are kept, in characters of JSON. */
  get size(): number {
    return this.#answers.calculatedSize;
  }

  /** The kept answer, or a new one. */
  get(question: string, execute: (signal: AbortSignal) => Promise<V>): Promise<V> {
    const kept = this.#answers.get(keyOf(question));
    return kept === undefined ? this.fresh(question, execute) : Promise.resolve(kept);
  }

  /** A new answer, whether or not one is kept. */
  fresh(question: string, execute: (signal: AbortSignal) => Promise<V>): Promise<V> {
    const key = keyOf(question);
    const running = this.#underWay.get(key);
    if (running) return running;
    const execution = execute(AbortSignal.timeout(EXECUTION_MS))
      .then((answer) => {
        this.#answers.set(key, answer);
        return answer;
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, execution);
    return execution;
  }
}

function keyOf(question: string): string {
  return question.length <= KEY_CHARACTERS ? question : createHash("sha256").update(question).digest("hex");
}
