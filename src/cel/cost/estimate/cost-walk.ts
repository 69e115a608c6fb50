/** The walk over an expression, and the variables in scope, of both estimates of its cost. */
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr } from "../../ast.js";
import type { CheckedExpr } from "../../checked.js";
import { ACCUMULATOR } from "../../parser/node-factory.js";
import { DYN, type Type } from "../../types.js";
import { fixed, type Range, sum, UINT_MAX } from "./range.js";

export const ZERO: Range = fixed(0n);
export const ONE: Range = fixed(1n);
const LIST_COST = fixed(10n);
const MAP_COST = fixed(30n);
const MESSAGE_COST = fixed(40n);

/** Where the union of no sizes or costs starts. */
export const NOTHING: Range = { min: UINT_MAX, max: 0n };

/** Estimates one expression; an instance serves for one. `Local`: what is known of a comprehension variable. */
export abstract class CostWalk<Local> {
  readonly #locals = new Map<string, Local[]>();

  constructor(protected readonly checked: CheckedExpr) {}

  /** The cost of an expression. */
  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "literal":
        return ZERO;
      case "ident":
        return ONE;
      case "select":
        return this.select(expr);
      case "call":
        return this.call(expr);
      case "list":
        return this.list(expr);
      case "map":
        return this.map(expr);
      case "struct":
        return sum(...expr.fields.map(({ value }) => this.cost(value)), MESSAGE_COST);
      case "comprehension":
        return isBinding(expr) ? this.binding(expr) : this.comprehension(expr);
    }
  }

  protected abstract select(expr: SelectExpr): Range;
  protected abstract call(expr: CallExpr): Range;
  protected abstract binding(expr: ComprehensionExpr): Range;
  protected abstract comprehension(expr: ComprehensionExpr): Range;

  protected list(expr: ListExpr): Range {
    return sum(...expr.elements.map((element) => this.cost(element)), LIST_COST);
  }

  protected map(expr: MapExpr): Range {
    return sum(...expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]), MAP_COST);
  }

  protected typeOf(expr: Expr): Type {
    return this.checked.types.get(expr.id) ?? DYN;
  }

  protected local(expr: Expr): Local | undefined {
    return expr.kind === "ident" && !expr.rooted ? this.#locals.get(expr.name)?.at(-1) : undefined;
  }

  /** Evaluates `body` with a variable in scope. */
  protected with<R>(name: string, local: Local, body: () => R): R {
    const stack = this.#locals.get(name) ?? [];
    this.#locals.set(name, stack);
    stack.push(local);
    const result = body();
    stack.pop();
    return result;
  }
}

/** Whether a comprehension only binds a variable: it loops over nothing. */
function isBinding({ range, loopCondition, accuVar }: ComprehensionExpr): boolean {
  if (accuVar === ACCUMULATOR || range.kind !== "list" || range.elements.length > 0) return false;
  return loopCondition.kind === "literal" && loopCondition.value === false;
}
