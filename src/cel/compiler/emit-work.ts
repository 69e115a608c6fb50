/** Code that accounts for the work of calls (see `Work`), written before them. */
import type { WorkRule } from "../declarations.js";
import { CAN, type Out } from "./code.js";
import type { Emitting } from "./emitting.js";
import { h } from "./names.js";
import type { CallPlan } from "./plan.js";
import { workOf } from "./work.js";

/** The work of an added function that declares none: enough that a loop of them looks at the clock in time. */
const FOREIGN: WorkRule = { fixed: 2_000, each: 0, deep: false };

/** Functions whose second argument is a pattern, and the work of compiling one that is not constant: it may be a new one every time. */
const PATTERNED: ReadonlySet<string> = new Set([
  "matches",
  "find",
  "findAll",
  "regex.extract",
  "regex.extractAll",
  "regex.replace",
]);
const PATTERN_UNITS = 20_000;
const PATTERN_CHARACTER_UNITS = 2_000;

/** Accounts for the work of a call. */
export function emitWork(emitter: Emitting, plan: CallPlan, args: readonly Out[]): void {
  const rule = plan.known ? workOf(plan.name) : { ...(plan.work ?? FOREIGN), weigher: undefined };
  const { fixed, each, deep, weigher = deep ? h.weighAll : h.weigh } = rule;
  const weights = args
    .filter(({ can, constant }) => {
      const hasSize = constant === undefined && (can & (CAN.STRING | CAN.OTHER)) !== 0;
      return hasSize || weigher === h.weighCount;
    })
    .map((arg) => `${weigher}(${arg.code},c)`);
  const constant = args.reduce((sum, arg) => sum + (typeof arg.constant === "string" ? arg.constant.length : 0), 0);
  const pattern = plan.known && PATTERNED.has(plan.name) ? args[1] : undefined;
  if (pattern !== undefined && pattern.constant === undefined) {
    emitter.work(`${PATTERN_UNITS}+${PATTERN_CHARACTER_UNITS}*${h.weigh}(${pattern.code},c)`);
  }
  const units = fixed + Math.round(each * constant);
  emitter.work(each === 0 || weights.length === 0 ? units : `${units}+${each}*(${weights.join("+")})`);
}
