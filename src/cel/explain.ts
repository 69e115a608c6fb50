/**
 * An evaluated expression as a tree: every part as it was written, with the value it had. Made from the values that a program compiled with `trace` reports.
 */
import type { Expr, ParsedExpr } from "./ast.js";
import { PartPlaces, type Place } from "./part-places.js";
import { unparse } from "./unparse/unparse.js";
import { CelError } from "./values/cel-error.js";
import { Optional, type Result } from "./values/value.js";
import { children } from "./walk.js";

/** One part of an expression. */
export interface Explanation {
  /** The part's source, in one line. */
  readonly text: string;
  /** The part's place in the expression's text; absent for parts that a macro has made. */
  readonly place?: Place;
  /** Its value, the last one inside a loop; `undefined` when it was not evaluated. */
  readonly value: Result | undefined;
  /** The parts it consists of, without literals. */
  readonly parts: readonly Explanation[];
}

/** Explains an expression. @param values the value of every evaluated node by id, as `onValue` reports them */
export function explain(parsed: ParsedExpr, values: ReadonlyMap<number, Result>): Explanation {
  const places = new PartPlaces(parsed);
  const visit = (expr: Expr, inherited?: Result): Explanation => {
    const value = values.get(expr.id) ?? inherited;
    // `has(a.b)` asks about `a`: `a.b` itself is not evaluated.
    const tests = expr.kind === "select" && expr.testOnly;
    const written = tests ? expr : (parsed.macroCalls.get(expr.id) ?? expr);
    const operand = leavesChain(value) ? operandOf(expr) : undefined;
    const place = places.of(expr);
    return {
      text: unparse(expr, parsed.macroCalls),
      ...(place && { place }),
      value,
      // A name of a function's namespace has no value, and the variable that a macro binds is one of its arguments.
      parts: children(written)
        .filter((child) => child.kind !== "literal")
        .map((child) => visit(child, child === operand ? value : undefined)),
    };
  };
  return visit(parsed.expr);
}

/** Whether a value ends a chain such as `a.b.c` where it arises, whatever steps follow: only the value of the whole is reported then. */
const leavesChain = (value: Result | undefined): boolean =>
  value instanceof CelError || (value instanceof Optional && value.value === undefined);

/** The operand of a step in a chain. */
function operandOf(expr: Expr): Expr | undefined {
  if (expr.kind === "select") return expr.operand;
  return expr.kind === "call" && STEPS.has(expr.function) ? expr.args[0] : undefined;
}

const STEPS: ReadonlySet<string> = new Set(["_[_]", "_?._", "_[?_]"]);
