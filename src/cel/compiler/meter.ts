/**
 * One evaluation's meter: its cost, limit and deadline, and registers in which helpers answer a second value.
 */
import type { Waiting } from "../questions.js";
import { CelError } from "../values/cel-error.js";
import { Interruption } from "../values/interruption.js";
import type { Result, Value } from "../values/value.js";
import type { StatefulCallee } from "./plan.js";

/** How often a loop looks at the clock: reading it costs about as much as twenty iterations. */
const TICKS_PER_LOOK = 256;

/** Stands for an answer that is on its way while what does not depend on it is evaluated. */
export const PENDING: CelError = new CelError("the answer is not there yet", "waiting");

/** Makes the calls of an evaluation that waits for answers: the same call, with the same arguments, is made once. */
export interface Calls {
  ask(callee: StatefulCallee, meter: Meter, args: readonly Value[]): Result | Waiting;
}

/** What one evaluation counts, and what it was given (disposable). */
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
  readonly #deadline: { readonly at: number; readonly now: () => number } | undefined;

  /**
   * @param limit cost units, `Infinity` for none
   * @param state handed to the functions that want it
   * @param onValue gets the values of nodes when tracing was compiled in
   * @param calls makes the calls where the evaluation is repeated with their answers
   */
  constructor(
    readonly limit: number,
    readonly state: unknown,
    readonly onValue: ((id: number, result: Result) => void) | undefined,
    deadline: { readonly at: number; readonly now: () => number } | undefined,
    readonly calls: Calls | undefined,
  ) {
    this.#deadline = deadline;
    this.timed = deadline !== undefined;
  }

  /** Called once per iteration of a loop, when {@link timed}. */
  tick(): void {
    if (this.#deadline === undefined) return;
    this.#ticks += 1;
    if (this.#ticks % TICKS_PER_LOOK === 0) this.look();
  }

  /** Looks at the clock, and ends the evaluation after its deadline. */
  look(): void {
    const deadline = this.#deadline;
    if (deadline !== undefined && deadline.now() > deadline.at) throw new Interruption("deadline");
  }

  /** Reports the value of a node. */
  trace(id: number, result: Result): void {
    this.onValue?.(id, result);
  }
}
