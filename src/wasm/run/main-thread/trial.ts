/** The small budget of a call on the main thread, and its host, which can't wait. */
import { BUDGET_SPENT, type Budget, SLICE_UNITS } from "../guest/budget.js";
import type { HostAnswer, LogLine } from "../guest/call.js";
import type { HostSide } from "../guest/call-host.js";

/**
 * Units of fuel: one to three milliseconds of usual compiled code, which is charged for branches that it does not take, too. Most policies need a
 * tenth of it; a switch of threads costs a tenth, too.
 */
export const INLINE_UNITS = 50_000_000;

/**
 * Milliseconds by the clock, for code that is slower than its fuel says: long loops without branches, and code that is not optimized yet. As long as
 * any work may hold the main thread before others have their turn. Longer than the fuel lasts, because a thread that waits for a busy processor does
 * not run.
 */
export const INLINE_MS = 10;

/**
 * Time between two clock readings that nearly always means that the processor was taken away: by a used-up quota, or another machine on it. For a
 * policy that is known to end, it is ignored once in a call: a thread would have to wait for the same processor, and its start takes thirty times as
 * long as most calls.
 */
const STALLED_MS = 5;

/**
 * The same as {@link INLINE_MS} for a policy that is not known to end: eight looping policies may get their first call at once. The first of them has
 * {@link ONCE_MS}: in a policy's first call the engine compiles its functions, which takes longer than this.
 */
export const UNPROVED_MS = 2;

/** Pause in milliseconds after a longer call of such a policy, until the next one may take long. */
export const UNPROVED_PAUSE_MS = 100;

/**
 * The same for work done once, while a policy is loaded or after one of its first calls: the fuel of a call, and as long as requests may wait once.
 * Starting a thread takes longer.
 */
export const ONCE_MS = 30;

/**
 * The most units between two clock readings. A guest that has used its units within {@link QUICK_MS} gets twice as many: most do, and a reading takes
 * as long as some hundred of their instructions. In the slowest code they are some ten milliseconds.
 */
export const MOST_SLICE_UNITS = 8 * SLICE_UNITS;
const QUICK_MS = 0.05;

/** One call's budget and the host behind it. A call that must wait has spent the budget: it is repeated on a thread. */
export class Trial implements Budget, HostSide {
  #units = INLINE_UNITS;
  #isSpent = false;
  #lines: LogLine[] | undefined;
  #slice = SLICE_UNITS;
  #looked: number;
  #ends: number;
  #mayStall: boolean;
  readonly #now: () => number;

  /**
   * @param began the call's start, in milliseconds
   * @param now the same clock
   * @param milliseconds that it may take
   * @param mayStall whether one stretch without the processor is ignored
   */
  constructor(began: number, now: () => number, milliseconds = INLINE_MS, mayStall = false) {
    this.#looked = began;
    this.#ends = began + milliseconds;
    this.#mayStall = mayStall;
    this.#now = now;
  }

  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Log lines. They are passed on only when the call's answer counts, or they would be logged twice. */
  get lines(): readonly LogLine[] {
    return this.#lines ?? NONE;
  }

  refill(): number {
    // At the first stretch the clock was just read.
    if (this.#units < INLINE_UNITS) this.#look();
    if (this.#isSpent || this.#units <= 0) {
      this.#isSpent = true;
      return 0;
    }
    const units = Math.min(this.#slice, this.#units);
    this.#units -= units;
    return units;
  }

  #look(): void {
    const now = this.#now();
    const took = now - this.#looked;
    if (took >= STALLED_MS && this.#mayStall) {
      this.#mayStall = false;
      this.#ends += took;
    }
    if (now >= this.#ends) this.#isSpent = true;
    this.#slice = took < QUICK_MS ? Math.min(2 * this.#slice, MOST_SLICE_UNITS) : SLICE_UNITS;
    this.#looked = now;
  }

  /** @throws {@link BUDGET_SPENT} always. A guest may catch it, but gets no more fuel, and its answer does not count. */
  ask(): HostAnswer {
    return this.#giveUp();
  }

  line(line: LogLine): void {
    this.#lines ??= [];
    this.#lines.push(line);
  }

  /** @throws {@link BUDGET_SPENT} always */
  sleep(): void {
    this.#giveUp();
  }

  #giveUp(): never {
    this.#isSpent = true;
    throw BUDGET_SPENT;
  }
}

const NONE: readonly LogLine[] = [];
