/** The budget of a call on a thread: ends it at its deadline or when its answer is no longer needed, and rests when it takes long. */
import { type Budget, SLICE_UNITS } from "../guest/budget.js";
import type { ControlBlock } from "./control-block.js";
import type { SharedShares } from "./shares.js";

/** Milliseconds that a call computes before it rests for others. */
const GIVES_WAY_AFTER_MS = 5;
/** Milliseconds that it computes between two rests: the longest that another thread may wait for its processor. */
const STRETCH_MS = 0.2;
/** A rest is no longer than this: the engine may compile a function for a second, and must not cost the call all of its time. */
const LONGEST_REST_MS = 25;

/** The allowance of a call on a thread. */
export interface ThreadAllowance {
  /** The call's number on its thread. */
  readonly ticket: number;
  /** Its end, on the shared clock. */
  readonly deadline: number;
  /** Milliseconds of computing for which it has the share of early calls. */
  readonly earlyMs: number;
}

/** One call's budget on a thread. */
export class ThreadBudget implements Budget {
  #ended = false;
  /** Milliseconds of computing before {@link #since}. */
  #computed = 0;
  /** The time at which the call last began to compute. */
  #since: number;
  readonly #allowance: ThreadAllowance;
  readonly #control: ControlBlock;
  readonly #shares: SharedShares;
  readonly #now: () => number;

  /** @param now the shared clock */
  constructor(allowance: ThreadAllowance, control: ControlBlock, shares: SharedShares, now: () => number) {
    this.#allowance = allowance;
    this.#control = control;
    this.#shares = shares;
    this.#now = now;
    this.#since = now();
  }

  /** Reads the clock each time, so that an answer after the deadline does not count, and long host functions can check. */
  get isSpent(): boolean {
    return this.#isOver(this.#now());
  }

  /** Milliseconds for which the call has computed. */
  get computedMs(): number {
    return this.#computed + this.#now() - this.#since;
  }

  refill(): number {
    const now = this.#now();
    if (this.#isOver(now)) return 0;
    const stretch = now - this.#since;
    const beyond = this.#computed + stretch - GIVES_WAY_AFTER_MS;
    if (stretch < STRETCH_MS || beyond <= 0) return SLICE_UNITS;
    this.#rest(Math.min(stretch, beyond));
    return this.isSpent ? 0 : SLICE_UNITS;
  }

  /** Sleeps until the control block is woken, for this many milliseconds at most, and never beyond the deadline. */
  sleep(milliseconds: number): void {
    const now = this.#now();
    this.#computed += now - this.#since;
    const most = Math.min(milliseconds, this.#allowance.deadline - now);
    if (most > 0) this.#control.sleep(most);
    this.#since = this.#now();
  }

  /** Sleeps until the last stretch is no more than the call's share. */
  #rest(stretch: number): void {
    const share = this.#shares.of(this.#computed < this.#allowance.earlyMs);
    this.#control.arm();
    // A flag set before that could no longer wake it.
    if (this.#control.isAborted(this.#allowance.ticket)) return;
    this.sleep(share >= 1 ? 0 : Math.min(stretch / share - stretch, LONGEST_REST_MS));
  }

  #isOver(now: number): boolean {
    const { deadline, ticket } = this.#allowance;
    this.#ended ||= now >= deadline || this.#control.isAborted(ticket);
    return this.#ended;
  }
}
