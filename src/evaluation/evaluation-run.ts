/** The circumstances of one evaluation: its deadline, a signal made only when somebody asks for it, and what was observed on the way. */
import type { EvaluationContext, Observation } from "../policy/policy.js";

/** One use per request. */
export class EvaluationRun implements EvaluationContext {
  readonly deadline: number;
  #controller: AbortController | undefined;
  #aborted = false;
  #observations: Observation[] | undefined;

  /** @param deadline monotonic milliseconds; Infinity for none */
  constructor(deadline: number) {
    this.deadline = deadline;
  }

  /** Made at first use: policies that answer at once never pay for it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Keeps what a group says of its members. Bound, as policies may pass it on. */
  readonly observe = (observation: Observation): void => {
    this.#observations ??= [];
    this.#observations.push(observation);
  };

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

const NONE: readonly Observation[] = [];
