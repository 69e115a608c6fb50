import type { Expr } from "./ast.js";

/** Calls `visit` for an expression and everything below it, parents first. Iterative: depth is bounded by the source only. */
export function walk(root: Expr, visit: (expr: Expr) => void): void {
  const stack: Expr[] = [root];
  for (let expr = stack.pop(); expr !== undefined; expr = stack.pop()) {
    visit(expr);
    stack.push(...children(expr).reverse());
  }
}

/** The direct subexpressions in order of evaluation. */
export function children(expr: Expr): Expr[] {
  switch (expr.kind) {
    case "literal":
    case "ident":
      return [];
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? [...expr.args] : [expr.target, ...expr.args];
    case "list":
      return [...expr.elements];
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return expr.fields.map(({ value }) => value);
    case "comprehension":
      return [expr.range, expr.accuInit, expr.loopCondition, expr.loopStep, expr.result];
  }
}
