/**
 * A compiled expression: evaluates its generated function, and turns the reason of an early end into the outcome.
 */
import type { Expr, ParsedExpr } from "./ast.js";
import { callsOf, evaluateWaiting } from "./async-calls.js";
import type { CheckedExpr, Declarations } from "./checked.js";
import { type CompiledFunction, type CompiledGenerator, Emitter } from "./compiler/emitter.js";
import type { EmitOptions } from "./compiler/emitting.js";
import { type Calls, Meter } from "./compiler/meter.js";
import type { Plan } from "./compiler/plan.js";
import { Estimator } from "./cost/estimate/estimator.js";
import { SizedEstimator } from "./cost/estimate/sized-estimator.js";
import type {
  AsyncEvaluation,
  AsyncEvaluationOptions,
  Bindings,
  CompileOptions,
  ErrorPlace,
  Evaluation,
  EvaluationOptions,
  EvaluationSteps,
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

/** The cost limit of one expression evaluation in Kubernetes (spec kubernetes-cel.md 5.1). */
export const KUBERNETES_COST_LIMIT = 1_000_000;

/** The trees of an expression, made anew each time: they are several times the size of the code that runs. */
interface ExpressionTrees {
  readonly checked: () => CheckedExpr;
  readonly declarations: Declarations;
  readonly plan: () => Plan;
}

/** The parts of a program. */
interface ProgramParts {
  readonly source: string;
  readonly type: Type;
  readonly references: References;
  readonly plan: Plan;
  readonly trees: ExpressionTrees;
  readonly options: Required<Pick<CompileOptions, "trace" | "cost">> &
    Pick<EmitOptions, "flavour" | "behaviour" | "marksLists">;
  readonly costLimit: number;
}

/** The purpose of a compiled function: evaluating, finding the cost at which the limit was exceeded, or finding where an error comes from. */
type Form = "plain" | "exact" | "traced";

/** The purpose of a compiled generator: the same in steps. */
type SteppedForm = "plain" | "exact";

/** A program whose source is generated at the first evaluation: many expressions are compiled only to be checked. Then only the function is kept. */
export class CompiledProgram implements Program {
  readonly source: string;
  readonly type: Type;
  readonly constant: Value | undefined;
  readonly references: References;
  /** The plan, until a function is made of it. */
  #plan: Plan | undefined;
  readonly #trees: ExpressionTrees;
  readonly #options: ProgramParts["options"];
  readonly #costLimit: number;
  #plain: CompiledFunction | undefined;
  #exact: CompiledFunction | undefined;
  #traced: CompiledFunction | undefined;
  #stepped: CompiledGenerator | undefined;
  #exactStepped: CompiledGenerator | undefined;

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

  /** The expression with its types, and the names that it was checked against. */
  examined(): { readonly checked: CheckedExpr; readonly declarations: Declarations } {
    return { checked: this.#trees.checked(), declarations: this.#trees.declarations };
  }

  estimate(): { readonly min: bigint; readonly max: bigint } {
    const checked = this.#trees.checked();
    const estimator = this.#options.behaviour === "1.38" ? new SizedEstimator(checked) : new Estimator(checked);
    return estimator.cost(checked.expr);
  }

  /** Makes the function now rather than at the first evaluation. Throws where it cannot be made. */
  prepare(): void {
    this.#plain ??= this.#build("plain");
  }

  evaluate(bindings: Bindings, options: EvaluationOptions = {}): Evaluation {
    return this.#evaluate(bindings, options, undefined);
  }

  *evaluateInSteps(bindings: Bindings, options: EvaluationOptions): EvaluationSteps {
    const meter = this.#steppedMeter(options);
    try {
      this.#stepped ??= this.#buildStepped("plain");
      const result = yield* inSteps(this.#stepped(bindings, meter), meter);
      return { result, cost: meter.cost };
    } catch (thrown) {
      const exact = this.#steppedMeter(options);
      return endOf(thrown, meter.cost) ?? overLimit(yield* this.#exactCostInSteps(bindings, meter, exact));
    }
  }

  async evaluateAsync(bindings: Bindings, options: AsyncEvaluationOptions = {}): Promise<AsyncEvaluation> {
    return evaluateWaiting((calls) => this.#evaluate(bindings, options, calls), options);
  }

  locate(bindings: Bindings, options: AsyncEvaluationOptions = {}): ErrorPlace | undefined {
    const origins = new Map<CelError, number>();
    const onValue = (id: number, result: Result): void => {
      // An error passes unchanged through the parts that depend on it, and inner parts are reported first.
      if (result instanceof CelError && !origins.has(result)) origins.set(result, id);
    };
    const meter = new Meter(this.#limitOf(options), options.state, onValue, options.deadline, callsOf(options));
    try {
      this.#traced ??= this.#build("traced");
      const result = this.#traced(bindings, meter);
      const id = result instanceof CelError ? origins.get(result) : undefined;
      return id === undefined ? undefined : placeOf(id, this.parsed);
    } catch {
      return undefined; // an interruption ends the evaluation: it is not the error of a part
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
      return endOf(thrown, meter.cost) ?? overLimit(this.#exactCost(bindings, meter));
    }
  }

  /** The meter of steps: each step is bounded by itself. */
  #steppedMeter(options: EvaluationOptions): Meter {
    const { state, deadline } = options;
    const own = deadline && { ...deadline, held: { since: undefined, units: 0 } };
    return new Meter(this.#limitOf(options), state, undefined, own, undefined);
  }

  /** The cost at which the limit was first exceeded. */
  #exactCost(bindings: Bindings, before: Meter): number {
    const meter = before.again();
    try {
      this.#exact ??= this.#build("exact");
      this.#exact(bindings, meter);
    } catch (thrown) {
      return exactCostOf(thrown, before, meter);
    }
    return before.cost;
  }

  *#exactCostInSteps(bindings: Bindings, before: Meter, meter: Meter): Generator<undefined, number, undefined> {
    try {
      this.#exactStepped ??= this.#buildStepped("exact");
      yield* inSteps(this.#exactStepped(bindings, meter), meter);
    } catch (thrown) {
      return exactCostOf(thrown, before, meter);
    }
    return before.cost;
  }

  #build(form: Form): CompiledFunction {
    const traced = form === "traced" || (this.#options.trace && form === "plain");
    return new Emitter({ ...this.#emitOptions, exact: form === "exact", trace: traced, pauses: false }).build(
      this.#taken(),
    );
  }

  #buildStepped(form: SteppedForm): CompiledGenerator {
    const options = { ...this.#emitOptions, exact: form === "exact", trace: false, pauses: true };
    return new Emitter(options).buildGenerator(this.#taken());
  }

  get #emitOptions(): Pick<EmitOptions, "counting" | "flavour" | "behaviour" | "marksLists"> {
    const { cost, flavour, behaviour, marksLists } = this.#options;
    return { counting: cost, flavour, behaviour, marksLists };
  }

  /** The plan, kept until a function is made of it. */
  #taken(): Plan {
    const plan = this.#plan ?? this.#trees.plan();
    this.#plan = undefined;
    return plan;
  }
}

/** Continues the evaluation each time a step is asked for. */
function* inSteps(
  evaluation: Generator<undefined, Result, undefined>,
  meter: Meter,
): Generator<undefined, Result, undefined> {
  for (;;) {
    const step = evaluation.next();
    if (step.done === true) return step.value;
    yield;
    meter.goOn();
  }
}

/** The outcome of an evaluation that was ended by an exception; `undefined` for the limit of cost. */
function endOf(thrown: unknown, cost: number): Evaluation | undefined {
  if (!(thrown instanceof Interruption)) {
    // A bound of the engine that the language does not have: the deepest data, the longest list. Or an added function has thrown.
    return { result: internalError(thrown), cost };
  }
  switch (thrown.reason) {
    case "waiting":
      return { result: Waiting.INSTANCE, cost };
    case "deadline":
      return { result: interrupted(), cost };
    case "fault":
      return { result: new CelError(thrown.message ?? "", "internal"), cost };
    case "size":
      return { result: new CelError("operation cancelled: a value or pattern is too large", "too-large"), cost };
    case "limit":
      return undefined;
  }
}

const overLimit = (cost: number): Evaluation => ({
  result: new CelError("operation cancelled: actual cost limit exceeded", "cost-limit"),
  cost,
});

/** The exact cost; where the time is over as well, the count of the first attempt is used. */
const exactCostOf = (thrown: unknown, before: Meter, meter: Meter): number =>
  thrown instanceof Interruption && thrown.reason === "deadline" ? before.cost : meter.cost;

/** The place of a part. */
function placeOf(id: number, { source, expr, macroCalls }: ParsedExpr): ErrorPlace | undefined {
  let found: Expr | undefined;
  walk(expr, (part) => {
    if (part.id === id) found ??= part;
  });
  if (found === undefined) return undefined;
  const { line, column } = new Source(source).locationOf(found.offset);
  return { id, line, column: column + 1, text: unparse(found, macroCalls) };
}
