/**
 * Library calls that are written in place: tests on texts and sizes of lists. The library's function handles everything else.
 */
import { costSize } from "../operators/size.js";
import { CAN, type Out } from "./code.js";
import { emitCost } from "./emit-cost.js";
import { emitWork } from "./emit-work.js";
import type { Emitting } from "./emitting.js";
import { guarded } from "./guarded.js";
import { h } from "./names.js";
import type { CallPlan } from "./plan.js";
import { emitTextCall } from "./text-calls.js";

const TEXT_TESTS: ReadonlyMap<string, string> = new Map([
  ["starts_with_string", "startsWith"],
  ["ends_with_string", "endsWith"],
  ["contains_string", "includes"],
]);

/** The work of looking at a character, and of measuring it. */
const UNITS_PER_CHARACTER = 2;
/** How many characters of a part are compared at a time. */
const CHARACTERS_AT_ONCE = 16;

/** Writes a call in place; `undefined` when there is no such form. */
export function emitFastCall(emitter: Emitting, plan: CallPlan, args: readonly Out[]): Out | undefined {
  if (!plan.known) return undefined;
  const test = plan.overload === undefined ? undefined : TEXT_TESTS.get(plan.overload);
  if (test !== undefined && plan.callee !== undefined) return emitTextTest(emitter, plan, args, test);
  if (plan.name === "size" && args.length === 1 && plan.callee !== undefined) return emitSize(emitter, plan, args);
  if (plan.overload === "matches_string" && typeof args[1]?.constant === "string") {
    return emitMatches(emitter, plan, args, costSize(args[1].constant));
  }
  return emitTextCall(emitter, plan, args);
}

function emitTextTest(emitter: Emitting, plan: CallPlan, args: readonly Out[], method: string): Out {
  const [text, part] = args as [Out, Out];
  const { code } = emitter;
  const result = code.temp();
  const tests = args.filter(({ can }) => can !== CAN.STRING).map(({ code: arg }) => `typeof ${arg}==="string"`);
  const slow = `${guarded(args)}${code.constant(plan.callee)}(${text.code},${part.code})`;
  if (typeof part.constant === "string" && method === "includes") {
    const units = Math.ceil(costSize(part.constant) * 0.1);
    code.add(`if(typeof ${text.code}==="string"){`);
    emitter.work(`${text.code}.length*${UNITS_PER_CHARACTER}`);
    code.add(`${result}=${text.code}.includes(${part.code});`);
    emitter.lump(units === 0 ? 0 : `${h.ceil}(${h.codePoints}(${text.code})*0.1)*${units}`);
    code.add(`}else{${result}=${slow};`);
    emitCost(emitter, plan, args, result);
    code.add("}");
    return { code: result, can: CAN.BOOL | CAN.ERROR };
  }
  if (method === "includes") {
    emitter.work(
      `${h.weigh}(${text.code},c)*(${UNITS_PER_CHARACTER}+${h.weigh}(${part.code},c)/${CHARACTERS_AT_ONCE})`,
    );
  } else if (part.constant === undefined) emitWork(emitter, plan, [part]);
  code.add(
    tests.length === 0
      ? `${result}=${text.code}.${method}(${part.code});`
      : `${result}=${tests.join("&&")}?${text.code}.${method}(${part.code}):${slow};`,
  );
  if (typeof part.constant === "string" && method !== "includes")
    emitter.lump(Math.ceil(costSize(part.constant) * 0.1));
  else emitCost(emitter, plan, args, result);
  return { code: result, can: CAN.BOOL | CAN.ERROR };
}

/** Writes a search for a constant pattern: only the text's size is left to be found. */
function emitMatches(emitter: Emitting, plan: CallPlan, args: readonly Out[], patternSize: number): Out {
  const { code } = emitter;
  const [text] = args as [Out];
  const result = code.temp();
  const callee = code.constant(plan.callee);
  emitWork(emitter, plan, args);
  code.add(`if(typeof ${text.code}==="string"){${result}=${callee}(${args.map((arg) => arg.code).join(",")});`);
  emitter.lump(`${h.ceil}((1+${h.codePoints}(${text.code}))*0.1)*${Math.ceil(patternSize * 0.25)}`);
  code.add(`}else{${result}=${guarded([text])}${callee}(${args.map((arg) => arg.code).join(",")});`);
  emitCost(emitter, plan, args, result);
  code.add("}");
  return { code: result, can: CAN.BOOL | CAN.ERROR };
}

function emitSize(emitter: Emitting, plan: CallPlan, args: readonly Out[]): Out {
  const { code } = emitter;
  const [value] = args as [Out];
  const result = code.temp();
  const slow = `${h.size}(${value.code},c,${code.constant(plan.callee)})`;
  code.add(
    `${result}=typeof ${value.code}==="string"?${h.textSize}(${value.code},c):${h.isArray}(${value.code})?${value.code}.length:${slow};`,
  );
  emitCost(emitter, plan, args, result);
  return { code: result, can: CAN.NUMBER | CAN.ERROR };
}
