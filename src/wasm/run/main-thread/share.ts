/** How much of the main thread guests take. */

/** Milliseconds over which it is measured: what the main thread may be busy with at a stretch. */
const WINDOW_MS = 100;
/** The part of it that calls on the main thread may take; the rest is for requests, answers and other kinds of policies. */
const MOST = 0.5;
/** The same where there is no other processor: on a thread a call takes as much of it, and two switches more. */
const MOST_OF_ONE = 0.9;
/**
 * Milliseconds up to which a call does not count, and is never sent away: to hand it to a thread and take its result costs a good part of that, and
 * nobody notices to wait for it.
 */
const SHORT_MS = 0.25;

/** Measures, in windows one behind the other. */
export class MainThreadShare {
  #window = Number.NEGATIVE_INFINITY;
  #used = 0;
  readonly #most: number;

  /** @param processors that this process has */
  constructor(processors: number) {
    this.#most = processors > 1 ? MOST : MOST_OF_ONE;
  }

  /**
   * Whether a call may run on the main thread.
   * @param at monotonic milliseconds
   * @param usualMs how long calls of its policy usually take there
   */
  allows(at: number, usualMs: number): boolean {
    if (usualMs <= SHORT_MS) return true;
    return at - this.#window >= WINDOW_MS || this.#used < this.#most * WINDOW_MS;
  }

  /**
   * A call has run there.
   * @param began monotonic milliseconds
   * @param took milliseconds
   */
  took(began: number, took: number): void {
    if (took <= SHORT_MS) return;
    if (began - this.#window >= WINDOW_MS) {
      this.#window = began;
      this.#used = 0;
    }
    this.#used += took;
  }
}
