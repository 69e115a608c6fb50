import { type Bindings, CelError, type Evaluation, type EvaluationOptions, Waiting } from "../../../cel/index.js";
import type { Failure } from "../../../policy/outcome.js";
import { SLICE_MS, type TurnGiver } from "../../../policy/turns.js";
import type { RequestWorld } from "../../../world/request-world.js";
import type { Costs, Dialect } from "../dialect.js";
import type { Expression, ExpressionProgram } from "./expression.js";
import { interruptionOf, NOT_IN_TIME } from "./interruption.js";
import { costDetail, type PassedLimit, stopDetail } from "./limit-detail.js";
import { evaluateLong, stretchOf, UNFINISHED } from "./long-expressions.js";
import { type GroupProgress, Progress } from "./progress.js";

/** Cost between two looks at the clock: it takes a fraction of a millisecond. */
const COST_PER_LOOK = 10_000;

/** Work of an expression, in units of about a nanosecond, after which the clock is looked at whatever its cost. */
const UNITS_PER_LOOK = 1_000_000;

/** Steps of other work, a nanosecond or two each, that count as one unit of cost. */
const STEPS_PER_COST = 10;

/** Cost of any expression beside its own, so that many cheap ones are noticed, too. */
const COST_OF_ANY = 1_000;

/** The circumstances of an attempt. */
export interface AttemptOptions {
  /** Monotonic milliseconds, and the clock that tells them. */
  readonly deadline?: { readonly at: number; readonly now: () => number } | undefined;
  /** Gives others their turn; absent: the attempt is never paused. */
  readonly turns?: TurnGiver | undefined;
  /** The start of the first attempt, in monotonic milliseconds; absent: its first look at the clock, for callers that do nothing before. */
  readonly begun?: number | undefined;
  /** The results of earlier attempts; default none. */
  readonly progress?: Progress;
  /** Passed to the dialect's functions that need more than their arguments. */
  readonly state?: unknown;
}

/** One attempt at evaluating policies about a request (disposable): it is repeated when an answer had to be waited for, or others had to have their turn. */
export class Attempt {
  readonly dialect: Dialect;
  /** The costs of the dialect, or those that the operator has set. */
  readonly costs: Costs;
  readonly world: RequestWorld;
  readonly #deadline: AttemptOptions["deadline"];
  readonly #options: EvaluationOptions;
  readonly #turns: TurnGiver | undefined;
  readonly #progress: Progress;
  /** The start of a repeated attempt. */
  readonly #repeated: number | undefined;
  #sliceEnds: number | undefined;
  /** The time and work of the current expression, its variables included. */
  readonly #held: { since: number | undefined; units: number } = { since: undefined, units: 0 };
  #asked = 0;
  #cost = 0;
  #late = false;

  constructor(
    dialect: Dialect,
    world: RequestWorld,
    { deadline, turns, begun, progress = new Progress(), state }: AttemptOptions = {},
  ) {
    this.dialect = dialect;
    this.world = world;
    this.#deadline = deadline;
    this.#turns = deadline && turns;
    this.#progress = progress;
    const { costFactor } = world;
    this.costs = costFactor === 1 ? dialect.costs : scaled(dialect.costs, costFactor);
    const costLimit = this.costs.expression;
    this.#options =
      deadline === undefined
        ? { costLimit, state }
        : {
            costLimit,
            state,
            deadline: {
              at: deadline.at,
              now: deadline.now,
              stretch: stretchOf(this.#turns !== undefined),
              held: this.#held,
            },
          };
    this.#repeated = this.#turns === undefined || progress.groups === undefined ? undefined : deadline?.now();
    if (begun !== undefined && this.#repeated === undefined) this.#sliceEnds = begun + SLICE_MS;
  }

  /** Why no result counts: the deadline passed, or an expression took too long. */
  get interruption(): Failure | undefined {
    return this.#progress.stopped;
  }

  /** Ends the request with a failure, whatever the policies' results. */
  stop(failure: Failure): Waiting {
    this.#progress.stopped ??= failure;
    return Waiting.INSTANCE;
  }

  /** Whether the deadline has passed: many short expressions take as long as a long one. */
  expired(): boolean {
    const deadline = this.#deadline;
    if (deadline !== undefined && deadline.now() > deadline.at) this.#progress.stopped ??= NOT_IN_TIME;
    return this.#progress.stopped !== undefined;
  }

  /** Evaluates an expression. */
  evaluate(program: ExpressionProgram, bindings: Bindings): Evaluation {
    this.#held.since = undefined;
    this.#held.units = 0;
    return this.evaluatePart(program, bindings);
  }

  /** Evaluates a variable for the expression that reads it. */
  evaluatePart(program: ExpressionProgram, bindings: Bindings): Evaluation {
    if (this.#repeated !== undefined) this.#sliceEnds ??= this.#endOfSlice(this.#repeated);
    // A long evaluation gives others their turn, and is resumed in a later attempt: the first attempt keeps nothing to resume.
    const evaluation =
      this.#turns === undefined
        ? program.evaluate(bindings, this.#options)
        : evaluateLong(this.#progress, program, bindings, this.#options, this.#keeps);
    if (evaluation === UNFINISHED) {
      this.#late = true;
      this.over();
      return evaluation;
    }
    const { result } = evaluation;
    if (result instanceof CelError) {
      const stopped = interruptionOf(result, this.#deadline);
      if (stopped !== undefined) this.#stopped(program.source, stopped);
      if (result.code === "cost-limit") this.passed(program.source, this.costs.expression, "one expression");
    }
    this.#cost += evaluation.cost + COST_OF_ANY;
    if (this.#cost >= COST_PER_LOOK || this.#held.units >= UNITS_PER_LOOK) this.#look();
    return evaluation;
  }

  readonly #keeps = (): boolean => this.#groups() !== undefined;

  #stopped(source: string, failure: Failure): void {
    this.#progress.stopped ??= failure;
    const detail = stopDetail(source, failure);
    if (detail !== undefined) this.world.note(detail);
  }

  /** Reports to the log which limit of cost an expression has exceeded. */
  passed(source: string, limit: number, of: PassedLimit["of"]): void {
    this.world.note(costDetail({ source, limit, of, costFactor: this.world.costFactor }));
  }

  /** Counts work other than that of expressions, in steps of a nanosecond or two. */
  count(steps: number): void {
    this.#cost += steps / STEPS_PER_COST;
    if (this.#cost >= COST_PER_LOOK) this.#look();
  }

  /**
   * The end of a slice. That of a repeated attempt begins with its first evaluation, and takes as long as the repetition took, if that is more: otherwise
   * attempts would spend their time on repetitions.
   */
  #endOfSlice(began: number): number {
    const now = this.#deadline?.now() ?? began;
    return now + Math.max(SLICE_MS, now - began);
  }

  #look(): void {
    this.#cost = 0;
    const deadline = this.#deadline;
    if (deadline === undefined) return;
    const now = deadline.now();
    if (now > deadline.at) this.#progress.stopped ??= NOT_IN_TIME;
    // Most requests are answered before the first look at the clock, and so without a slice.
    this.#sliceEnds ??= (this.#held.since ?? now) + SLICE_MS;
    if (now > this.#sliceEnds) this.#late = true;
  }

  /**
   * Whether others must have their turn before anything more is evaluated: the attempt has come as far as it could, and is repeated. Checked before
   * each part that would be left out, since the result of an attempt for which this was true is discarded.
   */
  over(): boolean {
    if (!this.#late || this.#turns === undefined || this.#progress.stopped !== undefined) return false;
    this.#progress.groups ??= [];
    this.world.questions.pause(this.#turns);
    return true;
  }

  /** Whether further evaluation is useless now: others must have their turn ({@link over}), or the request is stopped. */
  leavesOff(): boolean {
    return this.#progress.stopped !== undefined || this.over();
  }

  /**
   * The next group of expressions, as far as an earlier attempt has evaluated it; `undefined` when it begins now.
   * Attempts evaluate the same groups in the same order, as long as the world stays the same.
   */
  known(expressions: readonly (Expression | undefined)[], about: unknown): GroupProgress | undefined {
    const known = this.#groups()?.[this.#asked];
    if (known === undefined || known.expressions !== expressions || known.about !== about) return undefined;
    this.#asked += 1;
    return known;
  }

  /** Keeps the group that begins now for later attempts. */
  begin(group: GroupProgress): GroupProgress {
    const groups = this.#groups();
    if (groups === undefined) return group;
    groups.length = this.#asked;
    groups.push(group);
    this.#asked += 1;
    return group;
  }

  /** The kept groups of a repeated attempt; not while it waits, since its groups then differ from those of later attempts. */
  #groups(): GroupProgress[] | undefined {
    return this.#repeated === undefined || this.world.questions.waiting ? undefined : this.#progress.groups;
  }

  /** Drops the group: it waits for an answer, and begins anew with it. */
  forget(group: GroupProgress): void {
    const { groups } = this.#progress;
    const position = groups?.lastIndexOf(group) ?? -1;
    if (groups !== undefined && position >= 0) groups.length = position;
  }
}

/** The costs times a factor; Infinity stays what it is. */
const scaled = ({ expression, evaluation, conditions }: Costs, factor: number): Costs => ({
  expression: Math.ceil(expression * factor),
  evaluation: Math.ceil(evaluation * factor),
  conditions: Math.ceil(conditions * factor),
});
