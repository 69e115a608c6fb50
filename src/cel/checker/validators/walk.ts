/** Visits the nodes of a tree. */
import type { Expr } from "../../ast.js";

/** The direct parts of an expression, in order. */
export function children(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "literal":
    case "ident":
      return [];
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "list":
      return expr.elements;
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return expr.fields.map(({ value }) => value);
    case "comprehension":
      return [expr.range, expr.accuInit, expr.loopCondition, expr.loopStep, expr.result];
  }
}

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
