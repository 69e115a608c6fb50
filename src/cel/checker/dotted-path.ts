import type { Expr } from "../ast.js";

/** The dotted name that an ident or a chain of plain selects spells: `a.b.c`, its first segment, and whether a dot leads it. */
export interface DottedPath {
  readonly name: string;
  readonly first: string;
  readonly rooted: boolean;
}

/** The dotted name an expression spells, or `undefined` when it is not one. */
export function dottedPath(expr: Expr): DottedPath | undefined {
  let name = "";
  let at = expr;
  while (at.kind === "select" && !at.testOnly) {
    name = `.${at.field}${name}`;
    at = at.operand;
  }
  return at.kind === "ident" ? { name: at.name + name, first: at.name, rooted: at.rooted } : undefined;
}
