/**
 * Strict calls: arguments, then the operation, then its cost (spec kubernetes-cel.md 2.8 and 5.3).
 */

import { costSize } from "../operators/size.js";
import { CelError } from "../values/cel-error.js";
import type { Result, Value } from "../values/value.js";
import { ANY, CAN, type Out } from "./code.js";
import { emitCost } from "./emit-cost.js";
import { emitOperator } from "./emit-operators.js";
import { guarded } from "./emit-piece.js";
import { emitWork } from "./emit-work.js";
import type { Emitting } from "./emitting.js";
import { h } from "./names.js";
import type { CallPlan } from "./plan.js";
import { emitTextCall } from "./text-calls.js";

// Library calls that are written in place: tests on texts and sizes of lists. The library's function handles everything else.

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
function emitFastCall(emitter: Emitting, plan: CallPlan, args: readonly Out[]): Out | undefined {
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

/** Writes a call. */
export function emitCall(emitter: Emitting, plan: CallPlan): Out {
  if (plan.stopsAtError) return emitStopping(emitter, plan);
  const args = plan.args.map((arg) => emitter.emit(arg));
  const operator = emitOperator(emitter, plan, args);
  if (operator !== undefined) return operator;
  const fast = emitConstantCall(emitter, plan, args) ?? emitFastCall(emitter, plan, args);
  if (fast !== undefined) return fast;
  const { code } = emitter;
  emitWork(emitter, plan, args);
  const result = code.temp();
  code.add(`${result}=${guarded(args)}${invocation(emitter, plan, args)};`);
  emitCost(emitter, plan, args, result);
  return { code: result, can: ANY };
}

/** Cost beyond which results are not kept: they may be large themselves. */
const MOST_KEPT_COST = 1000;

/** A call of constants, such as `quantity('1Gi')`: evaluated once, charged every time. */
function emitConstantCall(emitter: Emitting, plan: CallPlan, args: readonly Out[]): Out | undefined {
  if (plan.callee === undefined || args.length === 0 || args.some(({ constant }) => constant === undefined)) {
    return undefined;
  }
  const values = args.map(({ constant }) => constant as Value);
  let result: Result;
  let cost: number;
  try {
    result = plan.callee(...values);
    cost = typeof plan.cost === "number" ? plan.cost : plan.cost(values, result);
  } catch {
    return undefined; // an interruption ends the evaluation, and must do so only when the call is reached
  }
  if (cost > MOST_KEPT_COST) return undefined;
  emitter.lump(cost);
  const code = emitter.code.constant(result);
  return result instanceof CelError ? { code, can: CAN.ERROR } : { code, can: ANY & ~CAN.ERROR, constant: result };
}

/** The work of adding an entry to a map, which grows as it is filled. */
const INSERT_UNITS = 300;

/**
 * Writes arguments one after the other; the first error ends it, and then the call costs nothing of its own, unless all had been evaluated. Since 1.38
 * only a comparison costs something then (spec kubernetes-1-38.md 1).
 */
function emitStopping(emitter: Emitting, plan: CallPlan): Out {
  const { code } = emitter;
  const result = code.temp();
  const label = code.label();
  const args: Out[] = [];
  const free = emitter.options.behaviour === "1.38";
  const equality = plan.name === "_==_" || plan.name === "_!=_";
  const isOperator = plan.callee === undefined && plan.stateful === undefined;
  const operator = isOperator && plan.args.length === 2 && (!free || equality);
  code.add(`${label}:{`);
  plan.args.forEach((each, index) => {
    const arg = emitter.emit(each);
    const last = index === plan.args.length - 1;
    // An operator handles an error of its last operand itself.
    args.push((operator && !last) || (free && !operator) ? { ...arg, can: arg.can & ~CAN.ERROR } : arg);
    if ((arg.can & CAN.ERROR) === 0 || (operator && last)) return;
    code.add(`if(${arg.code} instanceof ${h.E}){${result}=${arg.code};`);
    if (free && equality) emitter.lump(1);
    else if (last && !free) emitCost(emitter, plan, args, result);
    code.add(`break ${label};}`);
  });
  const operated = isOperator && plan.args.length < 3 ? emitOperator(emitter, plan, args) : undefined;
  if (operated !== undefined) {
    code.add(`${result}=${operated.code};}`);
    return { code: result, can: operated.can | CAN.ERROR };
  }
  if (plan.name === "cel.@mapInsert") {
    emitter.work(INSERT_UNITS);
    code.add(`${result}=${h.insert}(${args.map((arg) => arg.code).join(",")});`);
  } else {
    const constant = free ? emitConstantCall(emitter, plan, args) : undefined;
    const fast = constant ?? (plan.callee === undefined ? undefined : emitFastCall(emitter, plan, args));
    if (fast !== undefined) {
      code.add(`${result}=${fast.code};}`);
      return { ...fast, code: result, can: fast.can | CAN.ERROR };
    }
    emitWork(emitter, plan, args);
    code.add(`${result}=${invocation(emitter, plan, args)};`);
  }
  emitCost(emitter, plan, args, result);
  code.add("}");
  return { code: result, can: ANY };
}

function invocation(emitter: Emitting, plan: CallPlan, args: readonly Out[]): string {
  const list = args.map((arg) => arg.code).join(",");
  if (plan.stateful !== undefined) return `${h.ask}(${emitter.code.constant(plan.stateful)},c,[${list}])`;
  return `${emitter.code.constant(plan.callee)}(${list})`;
}
