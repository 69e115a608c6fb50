import type { Clock } from "../../data/clock.js";
import { FIRST_RETRY_MS, LAST_REFUSAL_MS, LAST_RETRY_MS, RETRY_STEP_MS } from "./limits.js";
import type { Outage } from "./outage.js";

/**
 * Milliseconds until something that was refused, or has failed, is tried again: 1, 2, 4 s and so on; spread, so that not all replicas come at once.
 * @param failures consecutive failures, this one included
 * @param longest default: a minute, so that a right has its effect soon after it was given
 */
export const retryWait = (failures: number, random: () => number, longest = LAST_REFUSAL_MS): number =>
  Math.min(longest, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30)) * (0.5 + random() / 2);

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
  readonly #forgetOutage: () => void;
  #next: { readonly step: number; readonly cancel: () => void } | undefined;

  /**
   * @param random at least 0, less than 1: spreads keys that failed together
   * @param due receives the keys whose wait is over
   * @param outage after which no key waits any longer, and failures are counted anew
   */
  constructor(clock: Clock, random: () => number, due: (key: string) => void, outage?: Outage) {
    this.#clock = clock;
    this.#random = random;
    this.#due = due;
    const over = (): void => {
      for (const retry of this.#retries.values()) retry.failures = 0;
      this.#ring(Number.POSITIVE_INFINITY);
    };
    this.#forgetOutage = outage?.over(over) ?? (() => {});
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
    retry.failures += 1;
    const wait = retryWait(retry.failures, this.#random, LAST_RETRY_MS);
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
    this.#forgetOutage();
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

  #ring(now = this.#clock.now()): void {
    this.#next?.cancel();
    this.#next = undefined;
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
