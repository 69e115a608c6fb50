/** The expressions of a group about one request: the one that decides, then those that make texts of its answer. */

import {
  type Bindings,
  CelError,
  type EvaluationSteps,
  type Program,
  type Result,
  type Waiting,
} from "../../cel/index.js";
import type { EvaluationContext } from "../../policy/index.js";
import { EXPRESSION_STRETCH_MS, LONG_TURN_MS, SLICE_MS } from "../../policy/turns.js";
import type { MemberCalls } from "./member-calls.js";

/** A compiled expression; one that is watched is evaluated in one go. */
export type GroupProgram = Pick<Program, "evaluate"> & Partial<Pick<Program, "evaluateInSteps">>;

/** The place of the message's program. */
const MESSAGE = 1;

/** Circumstances of the evaluations. */
export interface EvaluationsOptions {
  /** The one that decides, and if there are others the message's or `undefined`, then those of audit annotations. */
  readonly programs: readonly (GroupProgram | undefined)[];
  readonly bindings: Bindings;
  readonly calls: MemberCalls;
  readonly context: EvaluationContext;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Evaluates one program after the other (disposable): one that has ended is not repeated when a later one has to wait for a member. */
export class Evaluations {
  /** The result of the program that decides; `undefined` as long as there is none. */
  decided: Result | undefined;
  /** The results of the others; `undefined` for a message that is not needed. Absent before the first: most groups have none. */
  texts: (Result | undefined)[] | undefined;
  /** The number of members' answers that were there when the group had decided. */
  judged = 0;
  readonly #options: EvaluationsOptions;
  /** Whether the present program was paused because it takes long. */
  #isLong = false;
  #steps: EvaluationSteps | undefined;

  constructor(options: EvaluationsOptions) {
    this.#options = options;
  }

  /** Whether all programs have ended, or the first was interrupted. */
  get ended(): boolean {
    const { decided, texts = NONE } = this;
    if (decided === undefined) return false;
    if (1 + texts.length === this.#options.programs.length) return true;
    return decided instanceof CelError && decided.code === "interrupted";
  }

  /** Goes on, to the end or until a member has to be waited for: a result that still waits is never final. */
  attempt(): void {
    const { programs, calls, context, now } = this.#options;
    const sliceEnds = programs.length > 1 ? now() + SLICE_MS : 0;
    if (this.#steps === undefined) calls.begin();
    else calls.goOn();
    while (!this.ended) {
      const index = this.decided === undefined ? 0 : 1 + (this.texts?.length ?? 0);
      const program = programs[index];
      const needed = index !== MESSAGE || this.decided !== true;
      const result = program !== undefined && needed ? this.#evaluate(program) : undefined;
      if (calls.questions.waiting) return;
      this.#isLong = false;
      if (index === 0) {
        this.judged = calls.answers.length;
        this.decided = result as Result;
      } else {
        this.texts ??= [];
        this.texts.push(result as Result | undefined);
      }
      if (!this.ended && context.turns !== undefined && now() >= sliceEnds) {
        calls.questions.pause(context.turns);
        return;
      }
    }
  }

  /** One that takes long is paused and resumed in the next attempt, and begins anew where it has to wait for a member. */
  #evaluate(program: GroupProgram): Result | Waiting {
    const { bindings, calls, context, now } = this.#options;
    const at = context.deadline;
    const turns = program.evaluateInSteps && context.turns;
    if (!this.#isLong || turns === undefined) {
      const stretch = turns === undefined ? EXPRESSION_STRETCH_MS : LONG_TURN_MS;
      const { result } = program.evaluate(bindings, { state: calls, deadline: { at, now, stretch } });
      if (turns === undefined || !isLeftOff(result, at, now)) return result;
      this.#isLong = true;
      return calls.questions.pause(turns);
    }
    const deadline = { at, now, stretch: EXPRESSION_STRETCH_MS, slice: SLICE_MS };
    this.#steps ??= program.evaluateInSteps?.(bindings, { state: calls, deadline });
    const step = this.#steps?.next();
    if (step?.done !== true) return calls.questions.pause(turns);
    this.#steps = undefined;
    return step.value.result;
  }
}

const NONE: readonly never[] = [];

/** Whether a run was paused because it took long, and there is time to resume it. */
const isLeftOff = (result: Result | Waiting, at: number, now: () => number): boolean =>
  result instanceof CelError && result.code === "interrupted" && now() <= at;
