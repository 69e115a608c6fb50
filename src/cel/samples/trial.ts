/** Tries an expression on samples of its data: whether it evaluates without error, and not always to the same value. */
import type { Expr } from "../ast.js";
import type { CheckedExpr } from "../checked.js";
import type { Program } from "../public-types.js";
import { unparse } from "../unparse/unparse.js";
import { CelError } from "../values/cel-error.js";
import type { Result, Value } from "../values/value.js";
import { valueText } from "../values/value-text.js";
import { walk } from "../walk.js";
import { Sample } from "./sample.js";
import type { Usage } from "./usage.js";

/** The results on all samples: different values, always the same one, always the same because no data is read, or only errors. */
export type Verdict = "varies" | "constant" | "closed" | "fails";

/** The remaining cost of trials, in units of the cost model. A unit is some ten nanoseconds. */
export interface Budget {
  cost: number;
}

/** Most samples of a trial; most trials end after a few. */
const MOST_SAMPLES = 120;

/** Most cost of one evaluation: samples are small, and an expression that takes more is not tried. */
const MOST_COST = 20_000;

/** The values that a part had: bits. */
const TRUE = 1;
const FALSE = 2;
const OTHER = 4;
const ERROR = 8;

/**
 * Tries a program that was compiled with a trace. Not only the whole must vary, but every condition in it too, unless `own` has it in the same words:
 * `a || "b" != ""` is always true, and in `c && (a || "b" != "")` the value of the whole does not show that.
 */
export function verdictOf(program: Program, checked: CheckedExpr, usage: Usage, own: string, budget: Budget): Verdict {
  if (usage.variables.size === 0 && usage.answers.size === 0)
    return program.evaluate({}, { costLimit: MOST_COST }).result instanceof CelError ? "fails" : "closed";
  budget.cost -= PROGRAM_CHARACTER_COST * program.source.length;
  const watched = conditionsOf(checked, own);
  const seen = new Map<number, number>();
  const values = new Set<string | Result>();
  const onValue = (id: number, result: Result): void => {
    if (watched.has(id)) seen.set(id, (seen.get(id) ?? 0) | bitOf(result));
  };
  const varies = (): boolean =>
    values.size > 1 && [...seen.values()].every((bits) => (bits & BOTH) === BOTH || (bits & OTHER) !== 0);
  for (let number = 0; number < MOST_SAMPLES && budget.cost > 0; number++) {
    const sample = new Sample(usage, number);
    const { result, cost } = program.evaluate(sample.bindings, {
      state: sample,
      onValue,
      costLimit: MOST_COST,
    });
    budget.cost -= cost + SAMPLE_COST + SAMPLE_CHARACTER_COST * program.source.length;
    // An evaluation that takes so much will take it with the next sample, too.
    if (result instanceof CelError && result.code === "cost-limit") return "fails";
    if (!(result instanceof CelError)) values.add(valueText(result as Value) ?? (result as Value));
    if (varies()) return "varies";
  }
  const bits = [...seen.values()];
  if (values.size === 0 || bits.some((each) => each === ERROR)) return "fails";
  return varies() ? "varies" : "constant";
}

const BOTH = TRUE | FALSE;
/** The cost of making a sample, and of evaluating with a trace: it grows with the length of the expression. */
const SAMPLE_COST = 100;
const SAMPLE_CHARACTER_COST = 10;
/** The cost of making a program, for each character. */
const PROGRAM_CHARACTER_COST = 200;

const bitOf = (result: Result): number => {
  if (result instanceof CelError) return ERROR;
  return typeof result === "boolean" ? (result ? TRUE : FALSE) : OTHER;
};

/** The ids of the conditions that the author did not write so. */
function conditionsOf({ parsed, types }: CheckedExpr, own: string): ReadonlySet<number> {
  const written = bare(own);
  const found = new Set<number>();
  const add = (part: Expr): void => {
    if (part.kind === "literal") return;
    const text = unparse(part, parsed.macroCalls);
    // Parts that macros add were not written.
    if (!text.includes("@") && !written.includes(bare(text))) found.add(part.id);
  };
  walk(parsed.expr, (part) => {
    if (types.get(part.id)?.kind === "bool") add(part);
    for (const operand of operands(part)) add(operand);
  });
  return found;
}

/** The operands that are conditions, whatever their types. */
function operands(expr: Expr): readonly Expr[] {
  if (expr.kind !== "call") return [];
  const { function: name, args } = expr;
  if (name === "_&&_" || name === "_||_" || name === "!_") return args;
  return name === "_?_:_" ? args.slice(0, 1) : [];
}

/** A text without the parts that may be written in several ways. */
const bare = (text: string): string => text.replaceAll(/[\s()]/g, "").replaceAll("'", '"');
