/** The circumstances of one evaluation: its deadline, a signal made only when somebody asks for it, and what was observed on the way. */
import type { EvaluationContext, Observation } from "./policy.js";
import type { TurnGiver } from "./turns.js";

/** One use per request, and one per member of a group that is asked. */
export class EvaluationRun implements EvaluationContext {
  readonly deadline: number;
  readonly observe: (observation: Observation) => void;
  readonly onDefect: (policy: string, error: unknown) => void;
  readonly turns: TurnGiver | undefined;
  readonly #parent: EvaluationContext | undefined;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #aborted = false;
  #observations: Observation[] | undefined;

  /**
   * @param deadline monotonic milliseconds; Infinity for none
   * @param onDefect told when a policy throws or rejects
   * @param parent the evaluation that this one is part of: it ends with it, is observed by it, and takes turns as it does
   */
  constructor(
    deadline: number,
    onDefect?: EvaluationContext["onDefect"],
    turns?: TurnGiver,
    parent?: EvaluationContext,
  ) {
    this.deadline = parent === undefined ? deadline : Math.min(deadline, parent.deadline);
    this.onDefect = onDefect ?? (() => {});
    this.turns = turns;
    this.#parent = parent;
    this.observe = parent === undefined ? this.#keep : (observation) => parent.observe?.(observation);
  }

  /** Made once, at first use: policies that answer at once never pay for it, and those that wait look at it every few milliseconds. */
  get signal(): AbortSignal {
    this.#signal ??= this.#makeSignal();
    return this.#signal;
  }

  #makeSignal(): AbortSignal {
    this.#controller = new AbortController();
    if (this.#aborted) this.#controller.abort();
    const own = this.#controller.signal;
    return this.#parent === undefined ? own : AbortSignal.any([own, this.#parent.signal]);
  }

  /** The circumstances of a policy that is asked as part of this one, by its own time: `deadline` in monotonic milliseconds. */
  static within(parent: EvaluationContext, deadline: number): EvaluationRun {
    return new EvaluationRun(deadline, parent.onDefect, parent.turns, parent);
  }

  /** Members that were evaluated, in the order they answered. */
  get observations(): readonly Observation[] {
    return this.#observations ?? NONE;
  }

  /** Tells the policy that nobody waits any more. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }

  readonly #keep = (observation: Observation): void => {
    this.#observations ??= [];
    this.#observations.push(observation);
  };
}

const NONE: readonly Observation[] = [];
