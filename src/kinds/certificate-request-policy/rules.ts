/** Compiling rules and running them over the items of an attribute (spec certificate-request-policy.md 5.5 to 5.7). */
import { type Bindings, CelError, type Result, Waiting } from "../../cel/index.js";
import type { Scope } from "../../cel-policy/dialect.js";
import type { Attempt } from "../../cel-policy/expressions/attempt.js";
import type { Expression } from "../../cel-policy/expressions/expression.js";
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import type { RequestValue } from "./request-value.js";

/** A rule, compiled; with an `error` it is an objection wherever it is run. */
export type CompiledRule = Expression;

/** What a rule says of an item; an error's `message` is what the objection says. */
export type RuleResult = boolean | CelError;

/** All rules see the same. */
const SCOPE: Scope = { optional: [], variables: undefined };

/** Compiles a rule; one text once, to the letter. Its `error` is as the webhook prints it: every issue. */
export const compileRule = (text: string, compiler: ExpressionCompiler): CompiledRule =>
  compiler.compile(text, "bool", SCOPE);

/** The items of one attribute, as they are judged (disposable). */
export interface RuleInputs {
  readonly items: readonly string[];
  /** Made once for a request. */
  readonly cr: RequestValue;
  readonly attempt: Attempt;
  /** What tells runs of the same rules for one request apart; the same in every attempt. */
  readonly about: unknown;
}

/**
 * Runs rules (in every attempt the same array) over items: the results of all rules for the first item, then for the second, and so on. {@link Waiting} where others must have their turn, and the
 * next attempt goes on there; or where the whole request is stopped (`attempt.interruption`).
 */
export function runRules(
  rules: readonly CompiledRule[],
  { items, cr, attempt, about }: RuleInputs,
): readonly RuleResult[] | Waiting {
  const { results } =
    attempt.known(rules, about) ??
    attempt.begin({
      expressions: rules,
      about,
      results: [],
      variables: undefined,
      owed: 0,
      remaining: Number.POSITIVE_INFINITY,
      failed: undefined,
    });
  const all = rules.length * items.length;
  let item = Math.floor(results.length / Math.max(rules.length, 1));
  let bindings: Bindings = { self: items[item], cr };
  for (let done = results.length; done < all; done++) {
    const index = done - item * rules.length;
    const rule = rules[index];
    if (rule === undefined) break;
    const result = run(rule, bindings, attempt);
    if (result instanceof Waiting) return result;
    results.push(result);
    if (index + 1 === rules.length) {
      item += 1;
      bindings = { self: items[item], cr };
    }
  }
  return results as readonly RuleResult[];
}

function run({ program, error }: CompiledRule, bindings: Bindings, attempt: Attempt): RuleResult | Waiting {
  if (program === undefined) return new CelError(error ?? "");
  if (attempt.interruption !== undefined || attempt.over()) return Waiting.INSTANCE;
  const { result } = attempt.evaluate(program, bindings);
  if (attempt.interruption !== undefined) return Waiting.INSTANCE;
  return result instanceof Waiting ? result : judgement(result);
}

/** A rule gives a bool, or it does not compile. */
function judgement(result: Result): RuleResult {
  return typeof result === "boolean" || result instanceof CelError ? result : new CelError("no such overload");
}
