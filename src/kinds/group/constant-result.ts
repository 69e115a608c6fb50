import type { Expr } from "../../cel/index.js";

/** Most different conditions that are tried in every combination: 2^12 evaluations of a small tree take a few milliseconds. */
const MAX_CONDITIONS = 12;

/** The value of a constant condition, such as `1 == 2`; undefined for one that may be true or false. */
export type Known = (condition: Expr) => boolean | undefined;

/**
 * The result that every combination of answers leads to, as of `true || a()` or `a() || !a()`; undefined when it depends on
 * them, or there are too many conditions to try.
 * Everything but logic is a condition that may be true or false, unless its value is known; equal conditions are equal.
 */
export function constantResult(expr: Expr, known: Known): boolean | undefined {
  const conditions: Conditions = { known, places: new Map() };
  const evaluate = logicOf(expr, conditions);
  const { size } = conditions.places;
  if (size > MAX_CONDITIONS) return undefined;
  const first = evaluate(0);
  for (let answers = 1; answers < 2 ** size; answers++) if (evaluate(answers) !== first) return undefined;
  return first;
}

interface Conditions {
  readonly known: Known;
  /** The bit of each condition, by its text. */
  readonly places: Map<string, number>;
}

/** A truth function over the conditions' answers, one bit each. */
type Logic = (answers: number) => boolean;

function logicOf(expr: Expr, conditions: Conditions): Logic {
  if (expr.kind === "literal" && typeof expr.value === "boolean") {
    const { value } = expr;
    return () => value;
  }
  const operands = expr.kind === "call" && expr.target === undefined ? expr.args : [];
  const [a, b, c] = operands;
  switch (expr.kind === "call" ? expr.function : undefined) {
    case "!_":
      return not(logicOf(a as Expr, conditions));
    case "_&&_":
      return binary(logicOf(a as Expr, conditions), logicOf(b as Expr, conditions), (left, right) => left && right);
    case "_||_":
      return binary(logicOf(a as Expr, conditions), logicOf(b as Expr, conditions), (left, right) => left || right);
    case "_?_:_":
      return choice(logicOf(a as Expr, conditions), logicOf(b as Expr, conditions), logicOf(c as Expr, conditions));
    default:
      return condition(expr, conditions);
  }
}

const not =
  (operand: Logic): Logic =>
  (answers) =>
    !operand(answers);

const binary =
  (left: Logic, right: Logic, join: (left: boolean, right: boolean) => boolean): Logic =>
  (answers) =>
    join(left(answers), right(answers));

const choice =
  (test: Logic, yes: Logic, no: Logic): Logic =>
  (answers) =>
    test(answers) ? yes(answers) : no(answers);

function condition(expr: Expr, { known, places }: Conditions): Logic {
  const value = known(expr);
  if (value !== undefined) return () => value;
  // Conditions are equal if they say the same, wherever they stand.
  const key = JSON.stringify(expr, (name, each: unknown) => {
    if (name === "id" || name === "offset") return undefined;
    return typeof each === "bigint" ? `${each}` : each;
  });
  const index = places.get(key) ?? places.size;
  places.set(key, index);
  return (answers) => ((answers >> index) & 1) === 1;
}
