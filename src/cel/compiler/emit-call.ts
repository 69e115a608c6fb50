/**
 * Strict calls: arguments, then the operation, then its cost (spec kubernetes-cel.md 2.8 and 5.3).
 */
import { CelError } from "../values/cel-error.js";
import type { Result, Value } from "../values/value.js";
import { ANY, CAN, type Out } from "./code.js";
import { emitCost } from "./emit-cost.js";
import { emitOperator } from "./emit-operators.js";
import { emitWork } from "./emit-work.js";
import type { Emitting } from "./emitting.js";
import { emitFastCall } from "./fast-calls.js";
import { guarded } from "./guarded.js";
import { h } from "./names.js";
import type { CallPlan } from "./plan.js";

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

/** Writes arguments one after the other; the first error ends it, and then the call costs nothing of its own, unless all had been evaluated. */
function emitStopping(emitter: Emitting, plan: CallPlan): Out {
  const { code } = emitter;
  const result = code.temp();
  const label = code.label();
  const args: Out[] = [];
  const operator = plan.callee === undefined && plan.stateful === undefined && plan.args.length === 2;
  code.add(`${label}:{`);
  plan.args.forEach((each, index) => {
    const arg = emitter.emit(each);
    const last = index === plan.args.length - 1;
    // An operator handles an error of its last operand itself.
    args.push(operator && !last ? { ...arg, can: arg.can & ~CAN.ERROR } : arg);
    if ((arg.can & CAN.ERROR) === 0 || (operator && last)) return;
    code.add(`if(${arg.code} instanceof ${h.E}){${result}=${arg.code};`);
    if (last) emitCost(emitter, plan, args, result);
    code.add(`break ${label};}`);
  });
  const operated = operator ? emitOperator(emitter, plan, args) : undefined;
  if (operated !== undefined) {
    code.add(`${result}=${operated.code};}`);
    return { code: result, can: operated.can | CAN.ERROR };
  }
  if (plan.name === "cel.@mapInsert") {
    emitter.work(INSERT_UNITS);
    code.add(`${result}=${h.insert}(${args.map((arg) => arg.code).join(",")});`);
  } else {
    const fast = plan.callee === undefined ? undefined : emitFastCall(emitter, plan, args);
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
