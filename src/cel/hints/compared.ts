/** Hints for `kind == "Pod" || "Job"`: what stands beside a comparison is compared with what is compared there. */
import type { CallExpr, Expr } from "../ast.js";
import type { Candidate } from "./hint-source.js";
import type { Part } from "./part.js";

const COMPARISON = /^_([<>=!]=|[<>])_$/;
const TEXT_TESTS: ReadonlySet<string> = new Set(["startsWith", "endsWith", "contains", "matches"]);

/** For an operand of `||` or `&&` that is no condition. */
export function comparedCandidates(part: Part): readonly Candidate[] {
  const top = topOf(part);
  const operands = operandsOf(top.expr);
  const place = operands.findIndex(({ id }) => id === part.expr.id);
  // The nearest on the left, else the nearest on the right.
  const beside = [...operands.slice(0, Math.max(0, place)).reverse(), ...operands.slice(place + 1)];
  const compared = beside.map((each) => comparison(each)).find((each) => each !== undefined);
  if (compared === undefined) return [];
  const { negated, subject, symbol, call } = compared;
  const of = part.operand(subject);
  const alike = (text: string): string => {
    const own = symbol === undefined ? `${of}.${call.function}(${text})` : `${of} ${symbol} ${text}`;
    return negated ? `!${symbol === undefined ? own : `(${own})`}` : own;
  };
  const write = (text: string, where: Part, whole: string): Candidate => ({
    text: `write ${text}`,
    fixed: where.replacedBy(whole),
  });
  // All literals of the chain at once: one of them alone leaves the others wrong.
  const literals = new Map(operands.filter(isText).map(({ id }) => [id, ""]));
  for (const [id] of literals) literals.set(id, alike(part.text(operands.find((each) => each.id === id))));
  const candidates = [
    write(alike(part.text()), top, written(top.expr, part, literals)),
    write(alike(part.text()), part, alike(part.text())),
  ];
  const parent = part.parent;
  const isPair = parent?.expr.kind === "call" && parent.expr.args.some(({ id }) => id === call.id);
  if (symbol !== "!=" || parent === undefined || !isPair) return candidates;
  // Of two texts a value always differs from one.
  const other = call.args.find(({ id }) => id !== subject.id) ?? subject;
  const none = `!(${of} in [${part.text(other)}, ${part.text()}])`;
  return [...candidates, write(none, parent, none)];
}

const isText = (expr: Expr): boolean => expr.kind === "literal" && typeof expr.value === "string";

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

const isLogic = (expr: Expr): expr is CallExpr =>
  expr.kind === "call" && (expr.function === "_||_" || expr.function === "_&&_");

const operandsOf = (expr: Expr): readonly Expr[] => (isLogic(expr) ? expr.args.flatMap(operandsOf) : [expr]);

interface Comparison {
  readonly call: CallExpr;
  readonly subject: Expr;
  /** As it is written between its operands; undefined for a method. */
  readonly symbol: string | undefined;
  readonly negated: boolean;
}

/** A comparison of something with a literal. */
function comparison(expr: Expr, negated = false): Comparison | undefined {
  if (expr.kind !== "call") return undefined;
  const [first, second] = expr.args;
  if (expr.function === "!_" && first !== undefined) return comparison(first, !negated);
  if (TEXT_TESTS.has(expr.function) && expr.target !== undefined && first?.kind === "literal")
    return { call: expr, subject: expr.target, symbol: undefined, negated };
  const symbol = COMPARISON.exec(expr.function)?.[1];
  if (symbol === undefined || first === undefined || second === undefined) return undefined;
  const isTurned = first.kind === "literal";
  if (isTurned && !/^[=!]=$/.test(symbol)) return undefined;
  return { call: expr, subject: isTurned ? second : first, symbol, negated };
}
