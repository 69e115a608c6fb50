/** The branches of an expression: what is only evaluated when something before it is true, or false. */
import { children, type Expr } from "../../../cel/index.js";
import type { ExpressionProgram } from "../expressions/expression.js";

/** A branch: reached when the node `decider` has been `value`. */
export interface Branch {
  readonly decider: number;
  readonly value: boolean;
  /** `the right side of &&` */
  readonly what: string;
  /** 1-based place of the operator; the column counts code points. */
  readonly line: number;
  readonly column: number;
}

const DECIDING: ReadonlyMap<string, readonly { readonly value: boolean; readonly what: string }[]> = new Map([
  ["_&&_", [{ value: true, what: "the right side of &&" }]],
  ["_||_", [{ value: false, what: "the right side of ||" }]],
  [
    "_?_:_",
    [
      { value: true, what: "the branch after ?" },
      { value: false, what: "the branch after :" },
    ],
  ],
]);

/** The branches that an author wrote, in order of place. */
export function branchesOf(program: ExpressionProgram): readonly Branch[] {
  const points = [...program.source];
  const branches: Branch[] = [];
  const visit = (expr: Expr): void => {
    if (expr.kind === "comprehension") {
      // What of a loop stands in the source: its range, and what the macro wrapped into steps of its own.
      for (const part of [expr.range, ...children(expr.loopStep)]) visit(part);
      return;
    }
    const [decider] = expr.kind === "call" ? expr.args : [];
    const ways = expr.kind === "call" ? (DECIDING.get(expr.function) ?? []) : [];
    if (decider !== undefined && decider.kind !== "literal") {
      for (const way of ways) branches.push({ ...way, decider: decider.id, ...placeOf(points, expr.offset) });
    }
    for (const child of children(expr)) visit(child);
  };
  visit(program.checked);
  return branches.sort((a, b) => a.line - b.line || a.column - b.column);
}

function placeOf(points: readonly string[], offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let column = 1;
  for (const point of points.slice(0, offset)) {
    if (point === "\n") {
      line++;
      column = 1;
    } else column++;
  }
  return { line, column };
}
