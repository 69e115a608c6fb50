import type { Clock } from "../../data/clock.js";
import { FIRST_RETRY_MS, LAST_RETRY_MS, RETRY_STEP_MS } from "./limits.js";

interface Retry {
  failures: number;
  /** The step in which it is due; `undefined` while it does not wait. */
  step: number | undefined;
}

/** Schedules repetitions of failed keys, later each time. One timer for all of them. */
export class Retries {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #due: (key: string) => void;
  readonly #retries = new Map<string, Retry>();
  /** Keys by the step in which they are due: as many as the longest wait has steps. */
  readonly #steps = new Map<number, Set<string>>();
  #next: { readonly step: number; readonly cancel: () => void } | undefined;

  /**
   * @param random at least 0, less than 1: spreads keys that failed together
   * @param due receives the keys whose wait is over
   */
  constructor(clock: Clock, random: () => number, due: (key: string) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#due = due;
  }

  /** Number of keys that have failed and not succeeded since. */
  get size(): number {
    return this.#retries.size;
  }

  /**
   * Notes a failure.
   * @returns the milliseconds until the key comes again
   */
  failed(key: string): number {
    const retry = this.#retries.get(key) ?? { failures: 0, step: undefined };
    this.#retries.set(key, retry);
    const longest = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retry.failures, 30));
    retry.failures += 1;
    const wait = longest * (0.5 + this.#random() / 2);
    this.#leave(key, retry);
    retry.step = Math.ceil((this.#clock.now() + wait) / RETRY_STEP_MS);
    const keys = this.#steps.get(retry.step) ?? new Set<string>();
    keys.add(key);
    this.#steps.set(retry.step, keys);
    this.#arm();
    return wait;
  }

  /** Must be called when a key has succeeded, or no longer exists. */
  forget(key: string): void {
    const retry = this.#retries.get(key);
    if (retry === undefined) return;
    this.#leave(key, retry);
    this.#retries.delete(key);
  }

  /** Ends all waits. */
  stop(): void {
    this.#next?.cancel();
    this.#next = undefined;
    this.#retries.clear();
    this.#steps.clear();
  }

  #leave(key: string, { step }: Retry): void {
    if (step === undefined) return;
    const keys = this.#steps.get(step);
    keys?.delete(key);
    if (keys?.size === 0) this.#steps.delete(step);
  }

  #arm(): void {
    const first = Math.min(...this.#steps.keys());
    if (this.#next !== undefined && this.#next.step <= first) return;
    this.#next?.cancel();
    this.#next = undefined;
    if (first === Number.POSITIVE_INFINITY) return;
    const wait = Math.max(0, first * RETRY_STEP_MS - this.#clock.now());
    this.#next = { step: first, cancel: this.#clock.after(wait, () => this.#ring()) };
  }

  #ring(): void {
    this.#next = undefined;
    const now = this.#clock.now();
    for (const [step, keys] of this.#steps) {
      if (step * RETRY_STEP_MS > now) continue;
      this.#steps.delete(step);
      for (const key of keys) {
        const retry = this.#retries.get(key);
        if (retry !== undefined) retry.step = undefined;
        this.#due(key);
      }
    }
    this.#arm();
  }
}
