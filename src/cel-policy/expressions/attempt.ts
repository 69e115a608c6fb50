import type { Bindings, Evaluation, EvaluationOptions } from "../../cel/index.js";
import type { RequestWorld } from "../../world/request-world.js";
import type { Dialect } from "../dialect.js";
import type { ExpressionProgram } from "./expression.js";
import { isInterrupted } from "./interruption.js";

/** One look of policies at a request (disposable): it is repeated when an answer had to be waited for. */
export class Attempt {
  readonly dialect: Dialect;
  readonly world: RequestWorld;
  readonly #deadline: EvaluationOptions["deadline"];
  readonly #options: EvaluationOptions;
  #interrupted = false;

  constructor(dialect: Dialect, world: RequestWorld, deadline: EvaluationOptions["deadline"]) {
    this.dialect = dialect;
    this.world = world;
    this.#deadline = deadline;
    const costLimit = dialect.costs.expression;
    this.#options = deadline === undefined ? { costLimit } : { costLimit, deadline };
  }

  /** The deadline passed: no answer counts. */
  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** Whether the deadline has passed: many short expressions take as long as a long one. */
  expired(): boolean {
    const deadline = this.#deadline;
    if (deadline !== undefined && deadline.now() > deadline.at) this.#interrupted = true;
    return this.#interrupted;
  }

  /** Evaluates once. */
  evaluate(program: ExpressionProgram, bindings: Bindings): Evaluation {
    const evaluation = program.evaluate(bindings, this.#options);
    if (isInterrupted(evaluation.result)) this.#interrupted = true;
    return evaluation;
  }
}
