/** The work of calls (see `Work`), written before them. */
import { CAN, type Out } from "./code.js";
import type { Emitting } from "./emitting.js";
import { h } from "./names.js";
import type { CallPlan } from "./plan.js";
import { workOf } from "./work.js";

/** The work of a function that somebody else has written, who alone knows it: enough that a loop of them looks at the clock in time. */
const FOREIGN_UNITS = 2_000;

/** Accounts for the work of a call. */
export function emitWork(emitter: Emitting, plan: CallPlan, args: readonly Out[]): void {
  if (!plan.known) {
    emitter.work(FOREIGN_UNITS);
    return;
  }
  const { fixed, each, deep } = workOf(plan.name);
  const weights = args
    .filter(({ can, constant }) => constant === undefined && (can & (CAN.STRING | CAN.OTHER)) !== 0)
    .map((arg) => `${deep ? h.weighAll : h.weigh}(${arg.code},c)`);
  const constant = args.reduce((sum, arg) => sum + (typeof arg.constant === "string" ? arg.constant.length : 0), 0);
  const units = fixed + Math.round(each * constant);
  emitter.work(each === 0 || weights.length === 0 ? units : `${units}+${each}*(${weights.join("+")})`);
}
