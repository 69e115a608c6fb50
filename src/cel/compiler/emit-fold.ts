/**
 * Comprehensions as loops (spec kubernetes-cel.md 1.8). The accumulator is a variable; lists and maps that start empty are filled in place. The rules of
 * early exit and error absorption are those of condition and step, written like any other node.
 */

import { LIST_COST } from "../cost/runtime-cost.js";
import { MapValue } from "../values/value.js";
import { ANY, CAN, type Out } from "./code.js";
import type { Emitting } from "./emitting.js";
import { emptyList, h, m } from "./names.js";
import type { CallPlan, FoldPlan, ListPlan, Plan } from "./plan.js";

/** The work of one turn of a loop, apart from the calls that are made in it. */
const TURN_UNITS = 30;

/** Writes a comprehension. */
export function emitFold(emitter: Emitting, plan: FoldPlan): Out {
  if (isBinding(plan)) return emitBinding(emitter, plan);
  const { code } = emitter;
  const range = emitter.emit(plan.range);
  const [result, values, keys] = [code.temp(), code.temp(), code.temp()];
  const accumulator = code.temp();
  const label = code.label();
  const [index, length] = [code.temp(), code.temp()];
  code.add(`${label}:{`);
  if ((range.can & CAN.ERROR) !== 0)
    code.add(`if(${range.code} instanceof ${h.E}){${result}=${range.code};break ${label};}`);
  const two = plan.second !== undefined;
  code.add(`if(${h.isArray}(${range.code})){${values}=${range.code};${keys}=undefined;}`);
  code.add(`else{${values}=${h.range}(${range.code},${two},c);${keys}=${m.keys};`);
  code.add(`if(${values} instanceof ${h.E}){${result}=${values};break ${label};}}`);
  const mutable = startAccumulator(emitter, plan, accumulator);
  const item = code.temp();
  const value = two ? code.temp() : item;
  emitter.bind(plan.first, { code: item, can: ANY & ~CAN.ERROR });
  if (plan.second !== undefined) emitter.bind(plan.second, { code: value, can: ANY & ~CAN.ERROR });
  code.add(`for(${index}=0,${length}=${values}.length;${index}<${length};${index}++){`);
  if (emitter.options.counting && !emitter.options.exact) code.add(`if(cost>L)${h.exceeded}(cost,c);`);
  emitter.work(TURN_UNITS);
  if (two) code.add(`${item}=${keys}===undefined?${index}:${keys}[${index}];${value}=${values}[${index}];`);
  else code.add(`${item}=${values}[${index}];`);
  const condition = emitter.emit(plan.condition);
  if (condition.constant !== true) code.add(`if(${condition.code}===false)break;`);
  if (mutable !== undefined) emitMutation(emitter, plan.step, accumulator, plan, index);
  else {
    const step = emitter.emit(plan.step);
    code.add(`${accumulator}=${step.code};`);
  }
  code.add("}");
  const outcome = emitter.emit(plan.result);
  code.add(`${result}=${outcome.code};}`);
  return { code: result, can: outcome.can | CAN.ERROR };
}

/** The accumulator's start. Macros start with constants; what isn't constant is evaluated here, before the loop. */
function startAccumulator(emitter: Emitting, plan: FoldPlan, accumulator: string): "list" | "map" | undefined {
  const { code } = emitter;
  emitter.bind(plan.accumulator, { code: accumulator, can: ANY });
  const { start } = plan;
  if (start.kind === "const" && Array.isArray(start.value) && start.value.length === 0) {
    emitter.lump(start.cost ?? 0);
    code.add(`${accumulator}=${emptyList(emitter)};`);
    return "list";
  }
  if (start.kind === "const" && start.value instanceof MapValue && start.value.size === 0) {
    code.add(`${accumulator}=new ${h.MapValue}();`);
    return "map";
  }
  const out = emitter.emit(start);
  code.add(`${accumulator}=${out.code};`);
  return undefined;
}

/** Writes the step of a loop that fills a list or map: appends in place of `accumulator + [x]`, and leaves the rest as it is. */
function emitMutation(emitter: Emitting, step: Plan, accumulator: string, fold: FoldPlan, index: string): void {
  const { code } = emitter;
  if (step.kind === "conditional" && isAccumulator(step.no, fold)) {
    const condition = emitter.emit(step.condition);
    code.add(`if(${condition.code}===true){`);
    emitMutation(emitter, step.yes, accumulator, fold, index);
    code.add(`}else if(${condition.code}!==false){${accumulator}=${h.notBool}(${condition.code});`);
    if (emitter.options.flavour === "cel-go") emitUnstarted(emitter, fold, index);
    code.add("}");
    return;
  }
  const appended = appendedElement(step, fold);
  if (appended === undefined) {
    const out = emitter.emit(step);
    code.add(`${accumulator}=${out.code};`);
    return;
  }
  emitter.units(1); // the accumulator's own look-up
  // After an error in the accumulator, the newest releases of the reference evaluate nothing more.
  const free = emitter.options.behaviour === "1.38";
  const stops = emitter.options.flavour === "cel-go" || free;
  if (stops) code.add(`if(!(${accumulator} instanceof ${h.E})){`);
  const element = emitter.emit(appended.element);
  if (free) {
    // A failure is not charged for.
    const fails = (element.can & CAN.ERROR) !== 0;
    if (fails) code.add(`if(${element.code} instanceof ${h.E})${accumulator}=${element.code};else{`);
    emitter.lump(appended.listCost + 1);
    code.add(`${accumulator}.push(${element.code});${fails ? "}" : ""}}`);
    return;
  }
  emitter.lump(appended.listCost);
  emitter.lump(1);
  const failing =
    (element.can & CAN.ERROR) === 0 ? "" : `if(${element.code} instanceof ${h.E})${accumulator}=${element.code};else `;
  if (stops) code.add(`${failing}${accumulator}.push(${element.code});}`);
  else code.add(`if(!(${accumulator} instanceof ${h.E})){${failing}${accumulator}.push(${element.code});}`);
}

/** Takes the cost of the accumulator's start back where the first turn failed before reading it: the reference makes it then. */
function emitUnstarted(emitter: Emitting, { start }: FoldPlan, index: string): void {
  if (start.kind !== "const" || start.cost === undefined) return;
  emitter.code.add(`if(${index}===0){`);
  emitter.lump(-start.cost);
  emitter.code.add("}");
}

function isAccumulator(plan: Plan, fold: FoldPlan): boolean {
  return (
    plan.kind === "attribute" &&
    plan.qualifiers.length === 0 &&
    plan.root.kind === "local" &&
    plan.root.slot === fold.accumulator
  );
}

/** The element `x` of `accumulator + [x]`. */
function appendedElement(step: Plan, fold: FoldPlan): { element: Plan; listCost: number } | undefined {
  if (step.kind !== "call" || (step as CallPlan).name !== "_+_") return undefined;
  const [left, right] = step.args as [Plan, Plan];
  if (!isAccumulator(left, fold)) return undefined;
  if (right.kind === "list" && right.elements.length === 1 && (right as ListPlan).optional[0] !== true) {
    return { element: right.elements[0] as Plan, listCost: LIST_COST };
  }
  if (right.kind === "const" && Array.isArray(right.value) && right.value.length === 1) {
    return { element: { kind: "const", id: right.id, value: right.value[0] }, listCost: right.cost ?? 0 };
  }
  return undefined;
}

/** Whether a fold is a binding (`cel.bind`, `optMap`, `sortBy`): no loop, but a name for a value that is evaluated at first use, at most once. */
function isBinding(plan: FoldPlan): boolean {
  const empty = plan.range.kind === "const" && Array.isArray(plan.range.value) && plan.range.value.length === 0;
  return empty && plan.condition.kind === "const" && plan.condition.value === false;
}

function emitBinding(emitter: Emitting, plan: FoldPlan): Out {
  const { code } = emitter;
  const [value, result] = [code.temp(), code.temp()];
  code.add("{");
  if (plan.start.kind === "const" || usesCertainly(plan.result, plan)) {
    const out = emitter.emit(plan.start);
    code.add(`${value}=${out.code};`);
    emitter.bind(plan.accumulator, { code: value, can: out.can });
  } else {
    // Whether it is used is known only at run time, and it may be named often: one function, called at first use.
    const start = code.label();
    const [open, call] = emitter.options.pauses ? ["function*(){", "yield* "] : ["()=>{", ""];
    code.add(`${value}=undefined;const ${start}=${open}`);
    const out = emitter.emit(plan.start);
    code.add(`return ${out.code};};`);
    emitter.lazy.set(plan.accumulator, () => {
      code.add(`if(${value}===undefined)${value}=${call}${start}();`);
      return { code: value, can: ANY };
    });
  }
  // In a block: the function's name is declared there.
  const outcome = emitter.emit(plan.result);
  code.add(`${result}=${outcome.code};}`);
  return { code: result, can: outcome.can };
}

/** Whether the bound name is certainly evaluated whenever the result is. */
function usesCertainly(plan: Plan, fold: FoldPlan): boolean {
  switch (plan.kind) {
    case "attribute":
      if (plan.root.kind === "local") return plan.root.slot === fold.accumulator;
      return plan.root.kind !== "global" && usesCertainly(plan.root.plan, fold);
    case "conditional":
      return usesCertainly(plan.condition, fold) || (usesCertainly(plan.yes, fold) && usesCertainly(plan.no, fold));
    case "and":
    case "or":
    case "or-optional":
    case "or-value":
      return usesCertainly(plan.left, fold);
    case "call":
      return plan.stopsAtError
        ? plan.args.length > 0 && usesCertainly(plan.args[0] as Plan, fold)
        : plan.args.some((arg) => usesCertainly(arg, fold));
    case "membership":
      return usesCertainly(plan.element, fold);
    case "list":
      return plan.elements.length > 0 && usesCertainly(plan.elements[0] as Plan, fold);
    case "fold":
      return usesCertainly(plan.range, fold);
    default:
      return false;
  }
}
