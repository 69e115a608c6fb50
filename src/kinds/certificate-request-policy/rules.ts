/** Compiling rules and running them over the items of an attribute (spec certificate-request-policy.md 5.5 to 5.7). */
import { type Bindings, CelError, type Result, Waiting } from "../../cel/index.js";
import type { Scope } from "../shared/dialect.js";
import type { Attempt } from "../shared/expressions/attempt.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";

/** A compiled rule; one with an `error` objects to every item. */
export type CompiledRule = Expression;

/** The result of a rule for an item; an error's `message` is in the objection. */
export type RuleResult = boolean | CelError;

/** The scope of all rules. */
const SCOPE: Scope = { optional: [], variables: undefined };

/** Compiles a rule; each distinct text once. Its `error` is as the webhook prints it: every issue. */
export const compileRule = (text: string, compiler: ExpressionCompiler): CompiledRule =>
  compiler.compile(text, "bool", SCOPE);

/**
 * Runs a rule over an item. {@link Waiting} where others must have their turn, and the next attempt begins with this rule; or where the whole request is
 * stopped (`attempt.interruption`).
 * @param bindings `self`, the item, and `cr`, the request as a {@link import("./request-value.js").RequestValue}
 */
export function runRule({ program, error }: CompiledRule, bindings: Bindings, attempt: Attempt): RuleResult | Waiting {
  if (program === undefined) return new CelError(error ?? "");
  if (attempt.leavesOff()) return Waiting.INSTANCE;
  const { result } = attempt.evaluate(program, bindings);
  if (attempt.interruption !== undefined) return Waiting.INSTANCE;
  return result instanceof Waiting ? result : judgement(result);
}

/** The result as a bool: a rule of another type does not compile. */
function judgement(result: Result): RuleResult {
  return typeof result === "boolean" || result instanceof CelError ? result : new CelError("no such overload");
}
