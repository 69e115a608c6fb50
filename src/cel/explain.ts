/**
 * An evaluated expression as a tree: every part as it was written, with the value it had. Made from the values that a program compiled with `trace` reports.
 */
import type { Expr, ParsedExpr } from "./ast.js";
import { unparse } from "./unparse/unparse.js";
import type { Result } from "./values/value.js";
import { children } from "./walk.js";

/** One part of an expression. */
export interface Explanation {
  /** The part's source, in one line. */
  readonly text: string;
  /** Its value, the last one inside a loop; `undefined` when it was not evaluated. */
  readonly value: Result | undefined;
  /** The parts it consists of, without literals. */
  readonly parts: readonly Explanation[];
}

/** Explains an expression. @param values the value of every evaluated node by id, as `onValue` reports them */
export function explain(parsed: ParsedExpr, values: ReadonlyMap<number, Result>): Explanation {
  const visit = (expr: Expr): Explanation => {
    const written = parsed.macroCalls.get(expr.id) ?? expr;
    return {
      text: unparse(expr, parsed.macroCalls),
      value: values.get(expr.id),
      // A name of a function's namespace has no value, and the variable that a macro binds is one of its arguments.
      parts: children(written)
        .filter((child) => child.kind !== "literal")
        .map(visit),
    };
  };
  return visit(parsed.expr);
}
