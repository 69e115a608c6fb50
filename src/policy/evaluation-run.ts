/** The circumstances of one evaluation: its deadline, a signal made at first use, and the observations on the way. */
import type { Outcome } from "./outcome.js";
import type { EvaluationContext, Observation } from "./policy.js";
import type { TurnGiver } from "./turns.js";

/**
 * Whether a policy has judged its request: it matched, whatever it said. A false match condition and an exception count: the policy matched before
 * them. A group has judged where one of the members that it asked has, or where it asked none. A CertificateRequest that no policy is for is not judged.
 * @param observations those of its evaluation, with its members' outcomes
 */
export function hasJudged(outcome: Outcome, observations: readonly Observation[]): boolean {
  const members = observations.filter(({ member }) => member === true);
  const outcomes =
    outcome.verdict === "error" || members.length === 0 ? [outcome] : members.map((each) => each.outcome);
  return outcomes.some((each) => each.verdict !== "skip" || MATCHED.has(each.report?.passedOver));
}

const MATCHED: ReadonlySet<string | undefined> = new Set(["condition", "exception"]);

/** Context of one evaluation: one per request, and one per member of a group that is evaluated. */
export class EvaluationRun implements EvaluationContext {
  readonly deadline: number;
  readonly onDefect: (policy: string, error: unknown) => void;
  readonly turns: TurnGiver | undefined;
  /** Time at which its outcome was checked, in monotonic milliseconds; undefined before, and for a policy that failed in another way. */
  ended: number | undefined = undefined;
  readonly #parent: EvaluationContext | undefined;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #aborted = false;
  #observe: ((observation: Observation) => void) | undefined;
  #observations: Observation[] | undefined;

  /**
   * @param deadline monotonic milliseconds; Infinity for none
   * @param onDefect called when a policy throws or rejects
   * @param parent the evaluation that this one is part of: this one ends with it, reports its observations to it, and takes its turns
   */
  constructor(
    deadline: number,
    onDefect?: EvaluationContext["onDefect"],
    turns?: TurnGiver,
    parent?: EvaluationContext,
  ) {
    this.deadline = parent === undefined ? deadline : Math.min(deadline, parent.deadline);
    this.onDefect = onDefect ?? ignore;
    this.turns = turns;
    this.#parent = parent;
  }

  /** Made once, at first use: policies that answer at once don't pay for it, and waiting ones check it every few milliseconds. */
  get signal(): AbortSignal {
    this.#signal ??= this.#makeSignal();
    return this.#signal;
  }

  /** Keeps an observation, or passes it to the parent evaluation. Made at first use as well. */
  get observe(): (observation: Observation) => void {
    this.#observe ??= this.#makeObserve();
    return this.#observe;
  }

  #makeObserve(): (observation: Observation) => void {
    const parent = this.#parent;
    if (parent !== undefined) return (observation) => parent.observe?.(observation);
    return (observation) => {
      // Most evaluations have a single observation: a list that grows takes room for sixteen more.
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

  /** The context of a policy that is evaluated as part of this evaluation, within its own time: `deadline` in monotonic milliseconds. */
  static within(parent: EvaluationContext, deadline: number): EvaluationRun {
    return new EvaluationRun(deadline, parent.onDefect, parent.turns, parent);
  }

  /** Members that were evaluated, in the order of their answers. */
  get observations(): readonly Observation[] {
    return this.#observations ?? NONE;
  }

  /** Aborts the policy's signal: its caller no longer waits. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}

const ignore = (): void => {};
const NONE: readonly Observation[] = [];
