/**
 * Long evaluations. An expression that has held the main thread for two slices is evaluated again in steps, between which others have their turn; the
 * caller repeats its work each time, and finds the result when it is complete.
 */
import {
  type Bindings,
  CelError,
  type Evaluation,
  type EvaluationOptions,
  type EvaluationSteps,
  Lazy,
  ObjectValue,
  OpaqueValue,
  Waiting,
} from "../../../cel/index.js";
import { EXPRESSION_STRETCH_MS, LONG_TURN_MS, SLICE_MS } from "../../../policy/turns.js";
import type { ExpressionProgram } from "./expression.js";
import { VariablesValue } from "./variables.js";

/** Most results of one expression that were not asked for again: its bindings may differ each time, and the request must end all the same. */
const MOST_UNASKED = 3;

/** How long an expression may hold the thread at a time, at first. */
export const stretchOf = (hasTurns: boolean): number => (hasTurns ? LONG_TURN_MS : EXPRESSION_STRETCH_MS);

/** Options of an expression that can't be paused, where others have turns. */
const inOne = ({ deadline, ...others }: EvaluationOptions): EvaluationOptions =>
  deadline === undefined ? others : { ...others, deadline: { ...deadline, stretch: stretchOf(false) } };

/** The holder of one request's long expressions. */
export interface LongHolder {
  /** Undefined until there is one. */
  long: LongExpressions | undefined;
}

/**
 * Evaluates an expression, or continues it, where others have turns.
 * @param options with a deadline, and its stretch ({@link stretchOf})
 * @param keeps whether the caller keeps its results so far, and asks for the same expression again; it is asked for again in any case
 * @returns {@link UNFINISHED} when others must have their turn first
 */
export function evaluateLong(
  holder: LongHolder,
  program: ExpressionProgram,
  bindings: Bindings,
  options: EvaluationOptions,
  keeps: () => boolean,
): Evaluation {
  if (program.evaluateInSteps === undefined) return program.evaluate(bindings, inOne(options));
  const known = holder.long?.goOn(program, bindings);
  if (known !== undefined) return known;
  const evaluation = program.evaluate(bindings, options);
  const { result } = evaluation;
  if (!(result instanceof CelError) || result.code !== "interrupted" || isOver(options)) return evaluation;
  if (!keeps()) return UNFINISHED;
  holder.long ??= new LongExpressions();
  return holder.long.begin(program, bindings, options) ? UNFINISHED : evaluation;
}

/** Whether the deadline has passed. */
const isOver = ({ deadline }: EvaluationOptions): boolean => deadline !== undefined && deadline.now() > deadline.at;

/** The result of an unfinished evaluation: the caller is to be repeated when others had their turn. */
export const UNFINISHED: Evaluation = { result: Waiting.INSTANCE, cost: 0 };

/** An evaluation in steps. */
interface Stepped {
  readonly program: ExpressionProgram;
  readonly bindings: Bindings;
  readonly steps: EvaluationSteps;
  /** The result. */
  evaluation: Evaluation | undefined;
}

/** The long expressions of one request (disposable). At most one of them is unfinished: the last. */
export class LongExpressions {
  readonly #stepped: Stepped[] = [];
  /** Whether a step is being evaluated: expressions asked for now are its variables. */
  #isStepping = false;

  /**
   * Continues the unfinished evaluation.
   * @returns the result of an expression; {@link UNFINISHED} when others must have their turn first; undefined when it is to be evaluated
   */
  goOn(program: ExpressionProgram, bindings: Bindings): Evaluation | undefined {
    const last = this.#stepped.at(-1);
    if (last === undefined) return undefined;
    if (!this.#isStepping && last.evaluation === undefined && !this.#isAtItsEnd(last)) return UNFINISHED;
    const known = this.#stepped.findIndex(
      (each) => each.evaluation !== undefined && each.program === program && isSame(each.bindings, bindings),
    );
    return known < 0 ? undefined : this.#stepped.splice(known, 1)[0]?.evaluation;
  }

  /**
   * Starts evaluating an expression in steps; the caller asks for it again.
   * @param options with the deadline of the whole evaluation
   * @returns false when it can't be
   */
  begin(program: ExpressionProgram, bindings: Bindings, options: EvaluationOptions): boolean {
    const { deadline, ...others } = options;
    if (deadline === undefined) return false;
    if (this.#stepped.filter((each) => each.program === program).length >= MOST_UNASKED) return false;
    const { at, now } = deadline;
    const stepped = { at, now, stretch: EXPRESSION_STRETCH_MS, slice: SLICE_MS };
    const steps = program.evaluateInSteps?.(bindings, { ...others, deadline: stepped });
    if (steps === undefined) return false;
    this.#stepped.push({ program, bindings, steps, evaluation: undefined });
    return true;
  }

  /** Whether the last evaluation is finished. One that waits, for an answer or for a variable that takes long itself, begins anew with that. */
  #isAtItsEnd(last: Stepped): boolean {
    const step = this.#step(last);
    if (step.done !== true) return false;
    if (step.value.result instanceof Waiting) {
      this.#stepped.splice(this.#stepped.indexOf(last), 1);
      return false;
    }
    last.evaluation = step.value;
    return true;
  }

  #step({ steps }: Stepped): ReturnType<EvaluationSteps["next"]> {
    this.#isStepping = true;
    try {
      return steps.next();
    } finally {
      this.#isStepping = false;
    }
  }
}

/**
 * Most members that are compared to find that two values are the same, and the greatest depth: values made anew for each attempt are small, and contain the
 * others.
 */
const MOST_MEMBERS = 1_000;
const MOST_LEVELS = 4;

/** Whether an expression has the same result with both. */
function isSame(a: Bindings, b: Bindings): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => isSameValue(a[name], b[name]));
}

/** Whether two values of a variable are the same, or were made from the same for another attempt. */
export function isSameValue(a: Bindings[string], b: Bindings[string], levels = MOST_LEVELS): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || levels === 0) return false;
  // Not by `constructor`, which may be a key of the data.
  const prototype: unknown = Object.getPrototypeOf(a);
  if (prototype !== Object.getPrototypeOf(b) || a instanceof VariablesValue) return false;
  // Values made from the request or the world, such as an authorizer, are the same throughout a request.
  if (a instanceof ObjectValue || a instanceof OpaqueValue || a instanceof Lazy) return true;
  if (!Array.isArray(a) && prototype !== Object.prototype && prototype !== null) return false;
  const keys = Object.keys(a);
  if (keys.length > MOST_MEMBERS || keys.length !== Object.keys(b).length) return false;
  const [left, right] = [a as Bindings, b as Bindings];
  return keys.every((key) => Object.hasOwn(right, key) && isSameValue(left[key], right[key], levels - 1));
}
