/** Hints for `kind == "Pod" || "Job"`: the value beside a comparison is compared with the same operand. */
import type { CallExpr, Expr } from "../ast.js";
import { kindOf } from "../operators/kind.js";
import type { Candidate } from "./hint-source.js";
import type { Part } from "./part.js";

const COMPARISON = /^_([=!]=)_$/;
/** Operands of the longest chain with such a hint, which repeats the compared operand for each. */
const MOST_OPERANDS = 24;
const TEXT_TESTS: ReadonlySet<string> = new Set(["startsWith", "endsWith", "contains", "matches"]);

/** Candidates for an operand of `||` or `&&` that is not a condition. */
export function comparedCandidates(part: Part): readonly Candidate[] {
  const top = topOf(part);
  const operands = operandsOf(top.expr);
  if (operands.length > MOST_OPERANDS) return [];
  const place = operands.findIndex(({ id }) => id === part.expr.id);
  // The nearest on the left, else the nearest on the right.
  const beside = [...operands.slice(0, Math.max(0, place)).reverse(), ...operands.slice(place + 1)];
  const compared = beside.map((each) => comparison(each, each)).find((each) => each !== undefined);
  if (compared === undefined || !areAlike(part.expr, compared.value)) return [];
  const { negated, subject, symbol, call, operand, value } = compared;
  const of = part.operand(subject);
  const isNegative = negated !== (symbol === "!=");
  const write = (text: string, where: Part, whole: string): Candidate => ({
    text: `write ${text}`,
    fixed: where.replacedBy(whole),
  });
  // With `||`, `a != "x" || a != "y"` is always true; with `&&`, `a == "x" && a == "y"` is never.
  const both = joining(part, operand);
  if (both === undefined) return [];
  if (isNegative === (both.expr.kind === "call" && both.expr.function === "_||_")) {
    const isPair = both.expr.kind === "call" && both.expr.args.every(({ id }) => id === call.id || id === part.expr.id);
    const none = `!(${of} in [${part.text(value)}, ${part.text()}])`;
    return isPair && symbol === "!=" ? [write(none, both, none)] : [];
  }
  const alike = (text: string): string => {
    const own = symbol === undefined ? `${of}.${call.function}(${text})` : `${of} ${symbol} ${text}`;
    return negated ? `!${symbol === undefined ? own : `(${own})`}` : own;
  };
  // All literals of the chain at once: one of them alone leaves the others wrong.
  const literals = new Map<number, string>();
  for (const each of operands)
    if (each.kind === "literal" && areAlike(each, value)) literals.set(each.id, alike(part.text(each)));
  const own = alike(part.text());
  return [write(own, top, written(top.expr, part, literals)), write(own, part, own)];
}

/** Whether two literals are of one kind; an expression that is not a literal may be of any. */
const areAlike = (a: Expr, b: Expr): boolean =>
  a.kind !== "literal" || b.kind !== "literal" || kindOf(a.value) === kindOf(b.value);

/** The operands as they are written, but for some. */
function written(expr: Expr, part: Part, others: ReadonlyMap<number, string>): string {
  if (!isLogic(expr)) return others.get(expr.id) ?? part.text(expr);
  const sides = expr.args.map((arg) => {
    const text = written(arg, part, others);
    return isLogic(arg) && arg.function !== expr.function ? `(${text})` : text;
  });
  return sides.join(expr.function === "_||_" ? " || " : " && ");
}

/** The outermost of the `||` and `&&` that the part stands in. */
function topOf(part: Part): Part {
  let top = part;
  for (let parent = part.parent; parent !== undefined && isLogic(parent.expr); parent = parent.parent) top = parent;
  return top;
}

/** The `||` or `&&` that joins the part and another operand. */
function joining(part: Part, other: Expr): Part | undefined {
  let both = part.parent;
  while (both !== undefined && !operandsOf(both.expr).some(({ id }) => id === other.id)) both = both.parent;
  return both;
}

const isLogic = (expr: Expr): expr is CallExpr =>
  expr.kind === "call" && (expr.function === "_||_" || expr.function === "_&&_");

const operandsOf = (expr: Expr): readonly Expr[] => (isLogic(expr) ? expr.args.flatMap(operandsOf) : [expr]);

interface Comparison {
  readonly call: CallExpr;
  /** The compared operand, or its negation. */
  readonly operand: Expr;
  readonly subject: Expr;
  /** The literal that it is compared with. */
  readonly value: Expr;
  /** The operator as written; undefined for a method. */
  readonly symbol: string | undefined;
  readonly negated: boolean;
}

/** A comparison of an operand with a literal. One that is more or less than a number can be compared with another number, too. */
function comparison(expr: Expr, operand: Expr, negated = false): Comparison | undefined {
  if (expr.kind !== "call") return undefined;
  const [first, second] = expr.args;
  if (expr.function === "!_" && first !== undefined) return comparison(first, operand, !negated);
  if (TEXT_TESTS.has(expr.function) && expr.target !== undefined && first?.kind === "literal")
    return { call: expr, operand, subject: expr.target, value: first, symbol: undefined, negated };
  const symbol = COMPARISON.exec(expr.function)?.[1];
  if (symbol === undefined || first === undefined || second === undefined) return undefined;
  const [subject, value] = first.kind === "literal" ? [second, first] : [first, second];
  return { call: expr, operand, subject, value, symbol, negated };
}
