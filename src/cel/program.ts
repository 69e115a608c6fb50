/**
 * A compiled expression: evaluates its generated function, and turns what ended an evaluation early into its outcome.
 */
import type { Expr, ParsedExpr } from "./ast.js";
import { callsOf, evaluateWaiting } from "./async-calls.js";
import type { CheckedExpr } from "./checked.js";
import { type CompiledFunction, Emitter } from "./compiler/emitter.js";
import type { EmitOptions } from "./compiler/emitting.js";
import { type Calls, Meter } from "./compiler/meter.js";
import type { Plan } from "./compiler/plan.js";
import { Estimator } from "./cost/estimate/estimator.js";
import type {
  AsyncEvaluation,
  AsyncEvaluationOptions,
  Bindings,
  CompileOptions,
  ErrorPlace,
  Evaluation,
  EvaluationOptions,
  Program,
  References,
} from "./public-types.js";
import { Waiting } from "./questions.js";
import { Source } from "./source.js";
import type { Type } from "./types.js";
import { unparse } from "./unparse/unparse.js";
import { CelError, internalError, interrupted } from "./values/cel-error.js";
import { Interruption } from "./values/interruption.js";
import type { Result, Value } from "./values/value.js";
import { walk } from "./walk.js";

/** What one expression evaluation may cost in Kubernetes (spec kubernetes-cel.md 5.1). */
export const KUBERNETES_COST_LIMIT = 1_000_000;

/** The trees of an expression, made anew each time: they are several times the size of what runs. */
interface ExpressionTrees {
  readonly checked: () => CheckedExpr;
  readonly plan: () => Plan;
}

/** What a program is made of. */
interface ProgramParts {
  readonly source: string;
  readonly type: Type;
  readonly references: References;
  readonly plan: Plan;
  readonly trees: ExpressionTrees;
  readonly options: Required<Pick<CompileOptions, "trace" | "cost">> & Pick<EmitOptions, "flavour" | "marksLists">;
  readonly costLimit: number;
}

/** What a function is compiled for: evaluating, finding the cost at which the limit was exceeded, or finding where an error comes from. */
type Form = "plain" | "exact" | "traced";

/** The source is generated at the first evaluation: many expressions are compiled only to be checked. Then only what runs is kept. */
export class CompiledProgram implements Program {
  readonly source: string;
  readonly type: Type;
  readonly constant: Value | undefined;
  readonly references: References;
  /** Until a function is made of it. */
  #plan: Plan | undefined;
  readonly #trees: ExpressionTrees;
  readonly #options: ProgramParts["options"];
  readonly #costLimit: number;
  #plain: CompiledFunction | undefined;
  #exact: CompiledFunction | undefined;
  #traced: CompiledFunction | undefined;

  constructor({ source, type, references, plan, trees, options, costLimit }: ProgramParts) {
    this.source = source;
    this.type = type;
    this.references = references;
    this.constant = plan.kind === "const" ? plan.value : undefined;
    this.#plan = plan;
    this.#trees = trees;
    this.#options = options;
    this.#costLimit = costLimit;
  }

  get parsed(): ParsedExpr {
    return this.#trees.checked().parsed;
  }

  get checked(): Expr {
    return this.#trees.checked().expr;
  }

  estimate(): { readonly min: bigint; readonly max: bigint } {
    const checked = this.#trees.checked();
    return new Estimator(checked).cost(checked.expr);
  }

  /** Makes the function now rather than at the first evaluation. Throws where it cannot be made. */
  prepare(): void {
    this.#plain ??= this.#build("plain");
  }

  evaluate(bindings: Bindings, options: EvaluationOptions = {}): Evaluation {
    return this.#evaluate(bindings, options, undefined);
  }

  async evaluateAsync(bindings: Bindings, options: AsyncEvaluationOptions = {}): Promise<AsyncEvaluation> {
    return evaluateWaiting((calls) => this.#evaluate(bindings, options, calls), options);
  }

  locate(bindings: Bindings, options: AsyncEvaluationOptions = {}): ErrorPlace | undefined {
    const origins = new Map<CelError, number>();
    const onValue = (id: number, result: Result): void => {
      // An error passes through what depends on it as it is, and parts are reported before the whole.
      if (result instanceof CelError && !origins.has(result)) origins.set(result, id);
    };
    const meter = new Meter(this.#limitOf(options), options.state, onValue, options.deadline, callsOf(options));
    try {
      this.#traced ??= this.#build("traced");
      const result = this.#traced(bindings, meter);
      const id = result instanceof CelError ? origins.get(result) : undefined;
      return id === undefined ? undefined : placeOf(id, this.parsed);
    } catch {
      return undefined; // what ends an evaluation is no part's error
    }
  }

  #limitOf({ costLimit }: EvaluationOptions): number {
    return this.#options.cost ? (costLimit ?? this.#costLimit) : Number.POSITIVE_INFINITY;
  }

  #evaluate(bindings: Bindings, options: EvaluationOptions, calls: Calls | undefined): Evaluation {
    const meter = new Meter(this.#limitOf(options), options.state, options.onValue, options.deadline, calls);
    try {
      this.#plain ??= this.#build("plain");
      const result = this.#plain(bindings, meter);
      return { result, cost: meter.cost };
    } catch (thrown) {
      return this.#ended(thrown, bindings, meter);
    }
  }

  #ended(thrown: unknown, bindings: Bindings, meter: Meter): Evaluation {
    const { cost } = meter;
    if (!(thrown instanceof Interruption)) {
      // A bound that the engine has and the language has not: the deepest data, the longest list. Or a function of one's own has thrown.
      return { result: internalError(thrown), cost };
    }
    if (thrown.reason === "waiting") return { result: Waiting.INSTANCE, cost };
    if (thrown.reason === "deadline") return { result: interrupted(), cost };
    if (thrown.reason === "fault") return { result: new CelError(thrown.message ?? "", "internal"), cost };
    if (thrown.reason === "size") {
      return { result: new CelError("operation cancelled: a value or pattern is too large", "too-large"), cost };
    }
    const result = new CelError("operation cancelled: actual cost limit exceeded", "cost-limit");
    return { result, cost: this.#exactCost(bindings, meter) };
  }

  /** The cost at which the limit was first exceeded. */
  #exactCost(bindings: Bindings, before: Meter): number {
    const meter = before.again();
    try {
      this.#exact ??= this.#build("exact");
      this.#exact(bindings, meter);
    } catch (thrown) {
      // Where the time is over as well, what the first attempt has counted must do.
      return thrown instanceof Interruption && thrown.reason === "deadline" ? before.cost : meter.cost;
    }
    return before.cost;
  }

  #build(form: Form): CompiledFunction {
    const plan = this.#plan ?? this.#trees.plan();
    this.#plan = undefined;
    const { cost, trace, flavour, marksLists } = this.#options;
    const traced = form === "traced" || (trace && form === "plain");
    return new Emitter({ counting: cost, exact: form === "exact", trace: traced, flavour, marksLists }).build(plan);
  }
}

/** Where a part stands. */
function placeOf(id: number, { source, expr, macroCalls }: ParsedExpr): ErrorPlace | undefined {
  let found: Expr | undefined;
  walk(expr, (part) => {
    if (part.id === id) found ??= part;
  });
  if (found === undefined) return undefined;
  const { line, column } = new Source(source).locationOf(found.offset);
  return { id, line, column: column + 1, text: unparse(found, macroCalls) };
}
