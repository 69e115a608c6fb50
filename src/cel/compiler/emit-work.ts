/** The work of calls (see `Work`), written before them. */
import type { WorkRule } from "../declarations.js";
import { CAN, type Out } from "./code.js";
import type { Emitting } from "./emitting.js";
import { h } from "./names.js";
import type { CallPlan } from "./plan.js";
import { workOf } from "./work.js";

/** The work of a function that somebody else has written and says nothing of it: enough that a loop of them looks at the clock in time. */
const FOREIGN: WorkRule = { fixed: 2_000, each: 0, deep: false };

/** Functions whose second argument is a pattern, and what compiling takes where it is not known before: it may be a new one every time. */
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

/** The function whose result is as long as its argument says, and the work of an element. */
const COUNTED = "lists.range";
const COUNTED_UNITS = 20;

/** The function that asks whether its argument is empty. */
const EMPTY = "optional.ofNonZeroValue";

/** Accounts for the work of a call. */
export function emitWork(emitter: Emitting, plan: CallPlan, args: readonly Out[]): void {
  const { fixed, each, deep } = plan.known ? workOf(plan.name) : (plan.work ?? FOREIGN);
  const weigher = deep ? h.weighAll : plan.known && plan.name === EMPTY ? h.weighKeys : h.weigh;
  const weights = args
    .filter(({ can, constant }) => constant === undefined && (can & (CAN.STRING | CAN.OTHER)) !== 0)
    .map((arg) => `${weigher}(${arg.code},c)`);
  const constant = args.reduce((sum, arg) => sum + (typeof arg.constant === "string" ? arg.constant.length : 0), 0);
  const pattern = plan.known && PATTERNED.has(plan.name) ? args[1] : undefined;
  if (pattern !== undefined && pattern.constant === undefined) {
    emitter.work(`${PATTERN_UNITS}+${PATTERN_CHARACTER_UNITS}*${h.weigh}(${pattern.code},c)`);
  }
  const count = plan.known && plan.name === COUNTED ? args[0]?.code : undefined;
  if (count !== undefined) emitter.work(`(typeof ${count}==="number"&&${count}>0?${COUNTED_UNITS}*${count}:0)`);
  const units = fixed + Math.round(each * constant);
  emitter.work(each === 0 || weights.length === 0 ? units : `${units}+${each}*(${weights.join("+")})`);
}
