/**
 * A compiled expression: evaluates its generated function, and turns what ended an evaluation early into its outcome.
 */
import type { Expr, ParsedExpr } from "./ast.js";
import type { CheckedExpr } from "./checked.js";
import { Emitter, type Evaluator } from "./compiler/emitter.js";
import { Meter } from "./compiler/meter.js";
import type { Plan } from "./compiler/plan.js";
import { estimateCost } from "./cost/estimate.js";
import type { Bindings, CompileOptions, Evaluation, EvaluationOptions, Program } from "./public-types.js";
import { Waiting } from "./questions.js";
import type { Type } from "./types.js";
import { CelError } from "./values/cel-error.js";
import { Interruption } from "./values/interruption.js";
import type { Result, Value } from "./values/value.js";

/** What one expression evaluation may cost in Kubernetes (spec kubernetes-cel.md 5.1). */
export const KUBERNETES_COST_LIMIT = 1_000_000;

/** The trees of an expression, made anew each time: they are several times the size of what runs. */
export interface ExpressionTrees {
  readonly checked: () => CheckedExpr;
  readonly plan: () => Plan;
}

/**
 * See {@link Program}. The source is generated at the first evaluation: many expressions are compiled only to be checked. Then only what runs is kept.
 */
export class CompiledProgram implements Program {
  readonly constant: Value | undefined;
  /** Until the evaluator is made of it. */
  #plan: Plan | undefined;
  #evaluator: Evaluator | undefined;
  #exact: Evaluator | undefined;

  constructor(
    readonly source: string,
    readonly type: Type,
    plan: Plan,
    private readonly trees: ExpressionTrees,
    private readonly options: Required<Pick<CompileOptions, "trace" | "cost">> & { readonly standard: boolean },
    private readonly defaultLimit: number,
  ) {
    this.#plan = plan;
    this.constant = plan.kind === "const" ? plan.value : undefined;
  }

  get parsed(): ParsedExpr {
    return this.trees.checked().parsed;
  }

  get checked(): Expr {
    return this.trees.checked().expr;
  }

  estimate(): { readonly min: bigint; readonly max: bigint } {
    return estimateCost(this.trees.checked());
  }

  evaluate(bindings: Bindings, options: EvaluationOptions = {}): Evaluation {
    this.#evaluator ??= this.#build(false);
    const limit = this.options.cost ? (options.costLimit ?? this.defaultLimit) : Number.POSITIVE_INFINITY;
    const meter = new Meter(limit, options.state, options.onValue, options.deadline);
    try {
      const result = this.#evaluator(bindings, meter);
      return { result, cost: meter.cost };
    } catch (thrown) {
      return this.#ended(thrown, bindings, options, meter);
    }
  }

  #ended(thrown: unknown, bindings: Bindings, options: EvaluationOptions, meter: Meter): Evaluation {
    if (!(thrown instanceof Interruption)) {
      // A bound that the engine has and the language has not: the deepest data, the longest list.
      return { result: new CelError(`internal error: ${String(thrown)}`), cost: meter.cost };
    }
    if (thrown.reason === "waiting") return { result: Waiting.INSTANCE, cost: meter.cost };
    if (thrown.reason === "deadline") return { result: new CelError("operation interrupted"), cost: meter.cost };
    if (thrown.reason === "fault") return { result: new CelError(thrown.message ?? ""), cost: meter.cost };
    return { result: limitExceeded(), cost: this.#exactCost(bindings, options, meter) };
  }

  /** The cost at which the limit was first exceeded. */
  #exactCost(bindings: Bindings, options: EvaluationOptions, before: Meter): number {
    this.#exact ??= this.#build(true);
    const meter = new Meter(before.limit, options.state, undefined, undefined);
    try {
      this.#exact(bindings, meter);
    } catch {
      return meter.cost;
    }
    return before.cost;
  }

  #build(exact: boolean): Evaluator {
    const plan = this.#plan ?? this.trees.plan();
    this.#plan = undefined;
    const { cost, trace, standard } = this.options;
    return new Emitter({ counting: cost, exact, trace: trace && !exact, standard }).build(plan);
  }
}

const limitExceeded = (): Result => new CelError("operation cancelled: actual cost limit exceeded");
