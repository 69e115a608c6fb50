/** What a call costs (spec kubernetes-cel.md 5.3). */
import { mayFault } from "../cost/runtime-cost.js";
import type { Out } from "./code.js";
import type { Emitting } from "./emitting.js";
import { m } from "./names.js";
import type { CallPlan } from "./plan.js";

/** Adds the cost of a call whose result is in `result`. */
export function emitCost(emitter: Emitting, plan: CallPlan, args: readonly Out[], result: string): void {
  if (typeof plan.cost === "number") emitter.lump(plan.cost);
  else {
    if (!plan.known || mayFault(plan.overload)) emitter.code.add(`${m.cost}=cost;`);
    emitter.lump(`${emitter.code.constant(plan.cost)}([${args.map((arg) => arg.code).join(",")}],${result})`);
  }
}
