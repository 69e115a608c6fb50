/** Code that counts the cost of a call (spec kubernetes-cel.md 5.3). */
import { mayFault, textCostOf } from "../cost/runtime-cost.js";
import type { Out } from "./code.js";
import type { Emitting } from "./emitting.js";
import { m } from "./names.js";
import type { CallPlan, CostRule } from "./plan.js";

/** Adds the cost of a call whose result is in `result`. */
export function emitCost(emitter: Emitting, plan: CallPlan, args: readonly Out[], result: string): void {
  const told = typeof plan.cost === "number" ? plan.cost : costOfConstant(plan.cost, args[0]);
  if (told !== undefined) emitter.lump(told);
  else {
    if (!plan.known || mayFault(plan.overload)) emitter.code.add(`${m.cost}=cost;`);
    emitter.lump(`${emitter.code.constant(plan.cost)}([${args.map((arg) => arg.code).join(",")}],${result})`);
  }
}

/** The cost by a rule that measures a constant first argument; `undefined` where it measures another, or more. */
function costOfConstant(rule: CostRule, first: Out | undefined): number | undefined {
  const measures = textCostOf(rule)?.measures;
  return typeof first?.constant === "string" && (measures === "points" || measures === "octets")
    ? rule([first.constant], null)
    : undefined;
}
