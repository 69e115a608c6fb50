/**
 * One evaluation's meter: its cost, limit and deadline, and registers in which helpers answer a second value.
 */
import { Interruption } from "../values/interruption.js";
import type { Result, Value } from "../values/value.js";

/** How often a loop looks at the clock: reading it costs about as much as twenty iterations. */
const TICKS_PER_LOOK = 256;

/** See above. */
export class Meter {
  /** Cost units used, written when evaluation ends. */
  cost = 0;
  /** How many steps or cost units the last helper accounts for. */
  steps = 0;
  /** The keys of the last range, when it was a map with two variables. */
  keys: readonly Value[] | undefined = undefined;
  /** Whether there is a deadline. */
  readonly timed: boolean;
  #ticks = 0;

  /**
   * @param limit cost units, `Infinity` for none
   * @param state handed to host functions
   * @param onValue gets the values of nodes when tracing was compiled in
   */
  constructor(
    readonly limit: number,
    readonly state: unknown,
    readonly onValue: ((id: number, result: Result) => void) | undefined,
    private readonly deadline: { readonly at: number; readonly now: () => number } | undefined,
  ) {
    this.timed = deadline !== undefined;
  }

  /** Called once per iteration of a loop, when {@link timed}. */
  tick(): void {
    if (this.deadline === undefined) return;
    this.#ticks += 1;
    if (this.#ticks % TICKS_PER_LOOK === 0 && this.deadline.now() > this.deadline.at) {
      throw new Interruption("deadline");
    }
  }

  /** Reports the value of a node. */
  trace(id: number, result: Result): void {
    this.onValue?.(id, result);
  }
}
