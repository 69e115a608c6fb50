/** Checks of the variable names that macros bind. */
import type { Expr } from "../ast.js";
import { ACCUMULATOR } from "../parser/node-factory.js";
import { MacroError } from "./macro.js";

/** The accumulator's name in older versions of the language: still refused as a variable. */
const FORMER_ACCUMULATOR = "__result__";

const OVERWRITES = "iteration variable overwrites accumulator variable";

/** The name of a plain identifier (a leading dot counts as part of the name, as in the reference). */
export function identName(expr: Expr): string | undefined {
  if (expr.kind !== "ident") return undefined;
  return expr.rooted ? `.${expr.name}` : expr.name;
}

/** The name bound by a one-variable macro; `complaint` is the message when `expr` is not a name. */
export function iterationVariable(expr: Expr, complaint: string): string | MacroError {
  const name = identName(expr);
  if (name === undefined) return new MacroError(expr.offset, complaint);
  if (isAccumulator(name)) return new MacroError(expr.offset, OVERWRITES);
  return name;
}

/** The two names bound by a two-variable macro. */
export function iterationVariables(first: Expr, second: Expr): readonly [string, string] | MacroError {
  const name1 = identName(first);
  if (name1 === undefined) return new MacroError(first.offset, "argument must be a simple name");
  const name2 = identName(second);
  if (name2 === undefined) return new MacroError(second.offset, "argument must be a simple name");
  if (name1 === name2) return new MacroError(second.offset, `duplicate variable name: ${name1}`);
  if (isAccumulator(name1)) return new MacroError(first.offset, OVERWRITES);
  if (isAccumulator(name2)) return new MacroError(second.offset, OVERWRITES);
  return [name1, name2];
}

function isAccumulator(name: string): boolean {
  return name === ACCUMULATOR || name === FORMER_ACCUMULATOR;
}
