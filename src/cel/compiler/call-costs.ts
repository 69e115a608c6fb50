/** The cost and the work of calls to which added functions may apply. */
import type { FunctionDeclaration, Overload, WorkRule } from "../declarations.js";
import { chooser } from "../dispatch.js";
import { CelError } from "../values/cel-error.js";
import type { Result, Value } from "../values/value.js";
import type { CostRule } from "./plan.js";

/** The cost of a call of one of the language's own functions, with the overload that the checker has left (`undefined`: several). */
export type CallCosts = (name: string, overload: string | undefined) => number | CostRule;

/**
 * The cost of a call to which added overloads may apply: their own cost where one of them is called, else the cost without them.
 * @param overloads the ids that the checker has left
 * @param callCost the costs of the language's own functions
 */
export function costAmong(
  candidates: readonly Overload[],
  declaration: FunctionDeclaration | undefined,
  overloads: readonly string[],
  callCost: CallCosts,
): number | CostRule {
  const own = candidates.flatMap(({ cost }) => cost ?? []);
  if (declaration === undefined || own.length === candidates.length) return Math.max(...own);
  const { name } = declaration;
  const [only, ...more] = declaration.overloads.filter(({ id, cost }) => cost === undefined && overloads.includes(id));
  const rule = callCost(name, more.length === 0 ? only?.id : undefined);
  if (own.every((cost) => cost === rule)) return rule;
  const choose = chooser(declaration, candidates, (each) => each);
  const isValue = (arg: Result): arg is Value => !(arg instanceof CelError);
  return (args, result) => {
    const cost = args.every(isValue) ? choose(args)?.cost : undefined;
    return cost ?? (typeof rule === "number" ? rule : rule(args, result));
  };
}

/** Of the candidates' rules the one that grows most with its arguments. */
export function dearest(candidates: readonly Overload[]): WorkRule | undefined {
  let dearest: WorkRule | undefined;
  for (const { work } of candidates) if (work !== undefined && work.each >= (dearest?.each ?? 0)) dearest = work;
  return dearest;
}
