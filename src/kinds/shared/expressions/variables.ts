/**
 * `variables.…`: evaluated when first read, once per group of expressions, value or error (spec validating-admission-policy.md 5.7).
 */
import { answered, CelError, ObjectValue, type Result, Waiting } from "../../../cel/index.js";
import type { Dialect } from "../dialect.js";
import type { Expression, ExpressionProgram } from "./expression.js";

/** Evaluates a variable; charges its cost to the expression that reads it. */
export type VariableEvaluator = (program: ExpressionProgram) => Result | Waiting;

/** The variables of one group of expressions (disposable). */
export class VariablesValue extends ObjectValue {
  readonly typeName: string;
  readonly #expressions: ReadonlyMap<string, Expression>;
  readonly #dialect: Dialect;
  #evaluate: VariableEvaluator = () => Waiting.INSTANCE;
  #over: () => boolean = () => true;
  readonly #known = new Map<string, Result | Waiting>();

  constructor(expressions: ReadonlyMap<string, Expression>, dialect: Dialect) {
    super();
    this.typeName = dialect.variables.typeName;
    this.#expressions = expressions;
    this.#dialect = dialect;
  }

  /**
   * Sets the evaluator, anew when evaluation continues after a pause: variables that had to wait are evaluated again.
   * @param over whether others must have their turn before the expression that has read a variable continues
   */
  evaluateWith(evaluate: VariableEvaluator, over: () => boolean): void {
    this.#evaluate = evaluate;
    this.#over = over;
    for (const [field, result] of this.#known) if (result instanceof Waiting) this.#known.delete(field);
  }

  get(field: string): Result | undefined {
    const known = this.#known.get(field);
    if (known !== undefined) return answered(known);
    const name = this.#dialect.variables.nameOf(field);
    const expression = name === undefined ? undefined : this.#expressions.get(name);
    if (name === undefined || expression === undefined) return undefined;
    const result = this.#value(name, expression);
    this.#known.set(field, result);
    return answered(this.#over() ? Waiting.INSTANCE : result);
  }

  #value(name: string, { program, error }: Expression): Result | Waiting {
    const { words } = this.#dialect;
    if (program === undefined) return new CelError(words.uncompiledVariable(name, error ?? ""));
    const result = this.#evaluate(program);
    return result instanceof CelError ? new CelError(words.failedVariable(name, result.message)) : result;
  }

  has(field: string): boolean | CelError {
    const value = this.get(field);
    return value instanceof CelError ? value : value !== undefined;
  }

  fields(): Iterable<string> {
    return this.#expressions.keys();
  }
}
