/** Programs that are evaluated in steps though they are short: what asks for them must come to the same. */
import type { Evaluation, EvaluationOptions, EvaluationSteps, Program } from "../../src/cel/index.js";
import { CelError } from "../../src/cel/index.js";
import type { Watcher } from "../../src/kinds/shared/watcher.js";
import { LONG_TURN_MS } from "../../src/policy/turns.js";

/**
 * Takes each evaluation that may be gone on with later for one that takes long, where `isLong` says so, and leaves it off in the first places where it can be.
 * @param isLong asked for each evaluation
 */
export const forcedSteps = (isLong: () => boolean): Watcher => ({
  watch: (program) => {
    const { source, constant, checked, references } = program;
    const evaluate: Program["evaluate"] = (bindings, options = {}): Evaluation =>
      options.deadline?.stretch === LONG_TURN_MS && isLong()
        ? { result: new CelError("operation interrupted", "interrupted"), cost: 0 }
        : program.evaluate(bindings, options);
    const evaluateInSteps: Program["evaluateInSteps"] = (bindings, options): EvaluationSteps =>
      first(MOST_PAUSES, program.evaluateInSteps(bindings, leftOff(options, program.estimate().max < CHEAP ? 0 : 1)));
    return { source, constant, checked, references, evaluate, evaluateInSteps };
  },
});

/** A loop may have a million turns. */
const MOST_PAUSES = 4;

/** The evaluation, left off so often and not more. */
function* first(pauses: number, steps: EvaluationSteps): EvaluationSteps {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (count < pauses) yield;
  }
}

/** What costs less is left off wherever it can be; else there would be a look at the clock in each of a million turns. */
const CHEAP = 1_000n;

const leftOff = (options: EvaluationOptions, slice: number): EvaluationOptions =>
  options.deadline === undefined ? options : { ...options, deadline: { ...options.deadline, slice } };
