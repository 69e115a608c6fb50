/**
 * Expressions that take long. One that has held the main thread for two slices is evaluated again in steps, between which others have their turn; who
 * evaluates repeats what it did each time, and finds the result when it is there.
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

/** Results of one expression that nobody has asked for again, at most: its bindings are others each time, and it must end all the same. */
const MOST_UNASKED = 3;

/** For how long an expression may hold the thread at a time, at first. */
export const stretchOf = (hasTurns: boolean): number => (hasTurns ? LONG_TURN_MS : EXPRESSION_STRETCH_MS);

/** Of one that can't be left off, where others have turns. */
const inOne = ({ deadline, ...others }: EvaluationOptions): EvaluationOptions =>
  deadline === undefined ? others : { ...others, deadline: { ...deadline, stretch: stretchOf(false) } };

/** Where the long expressions of one request are kept. */
export interface LongHolder {
  /** Undefined as long as there were none. */
  long: LongExpressions | undefined;
}

/**
 * Evaluates an expression, or goes on with it, where others have turns.
 * @param options with a deadline, and its stretch ({@link stretchOf})
 * @param keeps whether what asks for it keeps what it has come to, and asks for the same again; it is asked for again in any case
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

/** An evaluation that is not at its end: what asked for it is to be repeated when others had their turn. */
export const UNFINISHED: Evaluation = { result: Waiting.INSTANCE, cost: 0 };

/** What is evaluated in steps. */
interface Stepped {
  readonly program: ExpressionProgram;
  readonly bindings: Bindings;
  readonly steps: EvaluationSteps;
  /** What it came to. */
  evaluation: Evaluation | undefined;
}

/** The long expressions of one request (disposable). At most one of them is not at its end: the last. */
export class LongExpressions {
  readonly #stepped: Stepped[] = [];
  /** A step is under way: what asks now are its variables. */
  #isStepping = false;

  /**
   * Goes on with what is not at its end.
   * @returns what an expression came to; {@link UNFINISHED} when others must have their turn first; undefined when it is to be evaluated
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
   * Has an expression evaluated in steps, by who asks for it again.
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

  /** What waits, for an answer or for a variable that takes long itself, begins anew with that. */
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

/** Members that are looked at to find that two values are the same, and how deep: what is made anew for each attempt is small, and holds what is not. */
const MOST_MEMBERS = 1_000;
const MOST_LEVELS = 4;

/** Whether an expression comes to the same with both. */
function isSame(a: Bindings, b: Bindings): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => isSameValue(a[name], b[name]));
}

/** Whether two values of a variable are the same, or were made of the same for another attempt. */
export function isSameValue(a: Bindings[string], b: Bindings[string], levels = MOST_LEVELS): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || levels === 0) return false;
  // Not by `constructor`, which may be a key of the data.
  const prototype: unknown = Object.getPrototypeOf(a);
  if (prototype !== Object.getPrototypeOf(b) || a instanceof VariablesValue) return false;
  // What is made of the request or of the world, such as an authorizer, is the same throughout a request.
  if (a instanceof ObjectValue || a instanceof OpaqueValue || a instanceof Lazy) return true;
  if (!Array.isArray(a) && prototype !== Object.prototype && prototype !== null) return false;
  const keys = Object.keys(a);
  if (keys.length > MOST_MEMBERS || keys.length !== Object.keys(b).length) return false;
  const [left, right] = [a as Bindings, b as Bindings];
  return keys.every((key) => Object.hasOwn(right, key) && isSameValue(left[key], right[key], levels - 1));
}
