/** The results of a request's mutations, kept over its attempts: each repeats the one before, and mutations of large objects take their time. */
import { CelError, type Result } from "../../../cel/index.js";
import type { Attempt } from "../expressions/attempt.js";
import type { Mutation } from "./evaluate-mutation.js";
import type { Applied, Patched } from "./mutate.js";

/** Nanoseconds or so of work after which the clock is looked at in any case: expressions look by themselves, patching does not. */
const PATCH_STEPS = 1_000_000;

/** The result of a mutation so far, and its inputs. */
interface Step {
  readonly before: unknown;
  readonly value: Result;
  asked: Mutation | undefined;
  applied: Applied | undefined;
  patched: Patched | undefined;
}

/** The three parts of a mutation's work. */
export interface StepWork {
  readonly ask: () => Mutation;
  readonly apply: (asked: Mutation) => Applied;
  readonly patch: (applied: Applied) => Patched;
}

/** The steps of a request (disposable). */
export class MutationSteps {
  readonly #steps: Step[] = [];
  #next = 0;

  /** Must be called when an attempt begins. */
  begin(): void {
    this.#next = 0;
  }

  /** The next mutation's step: the earlier one, if an earlier attempt had the same value for the same object. */
  step(before: unknown, value: Result): Step {
    const at = this.#next++;
    const known = this.#steps[at];
    if (known !== undefined && known.before === before && isSameResult(known.value, value)) return known;
    this.#steps.length = at;
    const step: Step = { before, value, asked: undefined, applied: undefined, patched: undefined };
    this.#steps.push(step);
    return step;
  }

  /**
   * The result of the next mutation, and whether others must have their turn after it: undefined when they must have it first.
   * @param value what the mutation's expression evaluated to, about the object `before`
   */
  take(before: unknown, value: Result, attempt: Attempt, work: StepWork): readonly [Patched, boolean] | undefined {
    const step = this.step(before, value);
    if (step.asked === undefined) {
      if (attempt.leavesOff()) return undefined;
      step.asked = work.ask();
      if (pauses(attempt)) return undefined;
    }
    if (step.applied === undefined) {
      step.applied = work.apply(step.asked);
      if (pauses(attempt)) return undefined;
    }
    // A step that is known already does not count as work: a repeated attempt must get further than before.
    const isNew = step.patched === undefined;
    step.patched ??= work.patch(step.applied);
    return [step.patched, isNew && pauses(attempt)];
  }
}

/** Whether others must have their turn after some work. */
export function pauses(attempt: Attempt): boolean {
  attempt.count(PATCH_STEPS);
  return attempt.leavesOff();
}

/** Whether two results are the same; compile errors are new objects in each attempt. */
const isSameResult = (a: Result, b: Result): boolean =>
  a === b || (a instanceof CelError && b instanceof CelError && a.message === b.message && a.code === b.code);
