/**
 * Measures which parts of policies were reached: expressions, their outcomes, and the branches inside them. Programs are watched as they are compiled
 * (with `trace`), so that evaluation itself knows nothing of it.
 */
import { CelError, children, type Expr, type Program, type Result } from "../../../cel/index.js";
import type { Expression, ExpressionProgram } from "../expressions/expression.js";
import type { Watcher } from "../watcher.js";

// The branches of an expression: parts that are evaluated only when an earlier part is true, or false.

/** A branch: reached when the node `decider` has been `value`. */
interface Branch {
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
function branchesOf(program: ExpressionProgram): readonly Branch[] {
  const points = [...program.source];
  const branches: Branch[] = [];
  const visit = (expr: Expr): void => {
    if (expr.kind === "comprehension") {
      // The parts of a loop that stand in the source: its range, and the arguments that the macro put into its step.
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

/** The observations of one program. */
interface Record {
  evaluated: boolean;
  readonly results: Set<unknown>;
  /** Bool values seen of a node, by its id. */
  readonly seen: Map<number, Set<boolean>>;
}

/** The condition for an expression to count as covered. */
export type Wanted = "both" | "evaluated";

/** An expression of a policy at its place. */
export interface CoveredExpression {
  readonly policy: string;
  /** `spec.validations[0].expression` */
  readonly path: string;
  /** The name of a match condition or a variable, or the key of an annotation. */
  readonly name?: string | undefined;
  readonly expression: Expression;
  readonly wanted: Wanted;
}

/** An object that lists its expressions: policies of CEL kinds do. */
export interface WithExpressions {
  /** Every expression with its place. */
  expressions(): Iterable<CoveredExpression>;
}

/** Whether an object, such as a policy, lists its expressions. */
export const hasExpressions = <T extends object>(thing: T): thing is T & WithExpressions =>
  "expressions" in thing && typeof thing.expressions === "function";

/** A part that no test reached. */
export interface Gap {
  readonly policy: string;
  readonly path: string;
  /** `is never false`, `1:23: the right side of && is never reached` */
  readonly text: string;
}

/** The extent of the coverage. */
export interface CoverageReport {
  readonly covered: number;
  readonly total: number;
  readonly gaps: readonly Gap[];
}

/** Watches programs; one instance per test run. */
export class Coverage implements Watcher {
  readonly #records = new Map<ExpressionProgram, Record>();
  /** Places with the same text are reached together. */
  readonly #watched = new WeakMap<Program, ExpressionProgram>();

  /** A program that does the same and is recorded. It must have been compiled with `trace`. */
  watch(program: Program): ExpressionProgram {
    const known = this.#watched.get(program);
    if (known !== undefined) return known;
    const record: Record = { evaluated: false, results: new Set(), seen: new Map() };
    const { source, constant, checked, references } = program;
    const evaluate: Program["evaluate"] = (bindings, options = {}) => {
      record.evaluated = true;
      const onValue = (id: number, result: Result): void => {
        if (typeof result === "boolean") record.seen.set(id, (record.seen.get(id) ?? new Set()).add(result));
        options.onValue?.(id, result);
      };
      const evaluation = program.evaluate(bindings, { ...options, onValue });
      const { result } = evaluation;
      record.results.add(result instanceof CelError ? "error" : result);
      return evaluation;
    };
    const watched = { source, constant, checked, references, evaluate };
    this.#records.set(watched, record);
    this.#watched.set(program, watched);
    return watched;
  }

  /** The coverage of the expressions. */
  report(expressions: Iterable<CoveredExpression>): CoverageReport {
    const gaps: Gap[] = [];
    let total = 0;
    let missed = 0;
    for (const { policy, path, expression, wanted } of expressions) {
      const { program } = expression;
      const record = program && this.#records.get(program);
      if (program === undefined || record === undefined) continue;
      const branches = branchesOf(program);
      const outcomes = wanted === "both" && program.constant === undefined ? [true, false] : [];
      const points = (outcomes.length || 1) + branches.length;
      total += points;
      if (!record.evaluated) {
        gaps.push({ policy, path, text: "is never evaluated" });
        missed += points;
        continue;
      }
      const texts = [
        ...outcomes.filter((outcome) => !record.results.has(outcome)).map((outcome) => `is never ${outcome}`),
        ...branches.filter(({ decider, value }) => record.seen.get(decider)?.has(value) !== true).map(textOf),
      ];
      gaps.push(...texts.map((text) => ({ policy, path, text })));
      missed += texts.length;
    }
    return { covered: total - missed, total, gaps };
  }
}

const textOf = ({ line, column, what }: Branch): string => `${line}:${column}: ${what} is never reached`;
