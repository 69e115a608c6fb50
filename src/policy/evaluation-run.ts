/** The circumstances of one evaluation: its deadline, a signal made only when somebody asks for it, and what was observed on the way. */
import type { EvaluationContext, Observation } from "./policy.js";
import type { TurnGiver } from "./turns.js";

/** One use per request, and one per member of a group that is asked. */
export class EvaluationRun implements EvaluationContext {
  readonly deadline: number;
  readonly onDefect: (policy: string, error: unknown) => void;
  readonly turns: TurnGiver | undefined;
  /** When its outcome was looked at, in monotonic milliseconds; undefined before, and of a policy that failed in another way. */
  ended: number | undefined = undefined;
  readonly #parent: EvaluationContext | undefined;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #aborted = false;
  #observe: ((observation: Observation) => void) | undefined;
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
    this.onDefect = onDefect ?? nobody;
    this.turns = turns;
    this.#parent = parent;
  }

  /** Made once, at first use: policies that answer at once never pay for it, and those that wait look at it every few milliseconds. */
  get signal(): AbortSignal {
    this.#signal ??= this.#makeSignal();
    return this.#signal;
  }

  /** Keeps what was observed, or hands it to the evaluation that this one is part of. Made at first use as well. */
  get observe(): (observation: Observation) => void {
    this.#observe ??= this.#makeObserve();
    return this.#observe;
  }

  #makeObserve(): (observation: Observation) => void {
    const parent = this.#parent;
    if (parent !== undefined) return (observation) => parent.observe?.(observation);
    return (observation) => {
      // A list of the one that most have: what grows takes room for sixteen more.
      if (this.#observations === undefined) this.#observations = [observation];
      else this.#observations.push(observation);
    };
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
}

const nobody = (): void => {};
const NONE: readonly Observation[] = [];
