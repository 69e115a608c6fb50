/** Visits the nodes of a tree. */
import type { Expr } from "../../ast.js";
import { children } from "../../walk.js";

/** Visits parts before wholes. `within` says whether an enclosing node is one of those that `marks` picks. */
export function visit(
  expr: Expr,
  marks: (expr: Expr) => boolean,
  visitor: (expr: Expr, within: boolean) => void,
  within = false,
): void {
  const below = within || marks(expr);
  for (const child of children(expr)) visit(child, marks, visitor, below);
  visitor(expr, within);
}
