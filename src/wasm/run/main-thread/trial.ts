/** What a call on the main thread has: a small budget, and a host that can't wait. */
import { BUDGET_SPENT, type Budget, SLICE_UNITS } from "../guest/budget.js";
import type { HostAnswer, LogLine } from "../guest/call.js";
import type { HostSide } from "../guest/call-host.js";

/**
 * Units of fuel: one to three milliseconds of compiled code as policies have it, which is charged for branches that it does not take, too. Most policies need
 * a tenth of it; a switch of threads costs a tenth, too.
 */
export const INLINE_UNITS = 50_000_000;

/**
 * Milliseconds by the clock, for code that is slower than its fuel says: long loops without branches, and what the engine has not optimized yet. As long as
 * anybody may have the main thread before others have their turn. Longer than the fuel lasts, because a thread that waits for a busy processor does not run.
 */
export const INLINE_MS = 10;

/**
 * So long between two looks at the clock nearly always means that the processor was elsewhere: a share of it that is used up, or another machine on it. Once in a call that does not
 * count, for the call of a policy that is known to end: a thread would have to wait for the same processor, and its start needs thirty times what most calls do.
 */
const STALLED_MS = 5;

/**
 * The same as {@link INLINE_MS} for a policy that is not known to end: eight policies that loop may be asked for the first time at once. The first of them has {@link ONCE_MS}:
 * in a policy's first call the engine compiles its functions, which takes longer than this.
 */
export const UNPROVED_MS = 2;

/** Milliseconds after a call of such a policy that has taken longer, until the next one may. */
export const UNPROVED_PAUSE_MS = 100;

/**
 * The same for what is asked once, while a policy is loaded or behind one of its first calls: by fuel no more than a call, by the clock what requests may have to wait once.
 * A start of a thread takes longer than that.
 */
export const ONCE_MS = 30;

/**
 * The most units between two looks at the clock. A guest that has used up what it had in {@link QUICK_MS} gets twice as much: most do, and a look takes as
 * long as some hundred of their instructions. Of the slowest code it is some ten milliseconds.
 */
export const MOST_SLICE_UNITS = 8 * SLICE_UNITS;
const QUICK_MS = 0.05;

/** One call's budget and the host behind it. A call that has to wait has spent the budget: it begins again on a thread. */
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
   * @param began when the call began, in milliseconds
   * @param now the same clock
   * @param milliseconds that it may take
   * @param mayStall whether a stretch in which the processor was elsewhere does not count, once
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

  /** What was logged. It is passed on only when the call's answer counts, or it would be logged twice. */
  get lines(): readonly LogLine[] {
    return this.#lines ?? NONE;
  }

  refill(): number {
    // The first stretch has just begun.
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

  /** @throws {@link BUDGET_SPENT} always. A guest may catch it, but has no fuel after what it has left, and its answer does not count. */
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
