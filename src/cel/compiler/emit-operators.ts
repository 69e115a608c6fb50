/**
 * Operators: common cases in place, the rest by helpers. Small ints (32 bits) are added and multiplied as numbers; texts, bools and numbers are
 * compared with `===`, which is exact because the representation of a value is unique.
 */
import { costSize } from "../operators/size.js";
import { ANY, CAN, type Out } from "./code.js";
import { emitCost } from "./emit-cost.js";
import type { Emitting } from "./emitting.js";
import { type HelperName, h, m } from "./names.js";
import type { CallPlan } from "./plan.js";

type Args = readonly Out[];

/** Writes an operator; `undefined` when the call is not one. */
export function emitOperator(emitter: Emitting, plan: CallPlan, args: Args): Out | undefined {
  switch (plan.name) {
    case "_==_":
      return emitEquality(emitter, args, plan.kinds[0] === "object" ? h.equalStruct : h.equal);
    case "_!=_":
      return emitEquality(emitter, args, h.notEqual);
    case "_<_":
    case "_<=_":
    case "_>_":
    case "_>=_":
      return emitOrder(emitter, plan, args);
    case "_+_":
      return emitAdd(emitter, plan, args);
    case "_-_":
      return emitArithmetic(emitter, plan, args, h.subtract, "-");
    case "_*_":
      return emitArithmetic(emitter, plan, args, h.multiply, "*");
    case "_/_":
      return emitHelper(emitter, plan, args, h.divide);
    case "_%_":
      return emitHelper(emitter, plan, args, h.modulo);
    case "-_":
      return emitHelper(emitter, plan, args, h.negate);
    case "!_":
      return emitNot(emitter, args);
    case "@in":
      return emitIn(emitter, plan, args);
    case "@not_strictly_false":
      return emitNotFalse(emitter, args);
    case "cel.@mapInsert":
      return emitHelper(emitter, plan, args, h.insertAll);
    default:
      return undefined;
  }
}

function emitHelper(emitter: Emitting, plan: CallPlan, args: Args, helper: HelperName): Out {
  const { code } = emitter;
  const result = code.temp();
  code.add(`${result}=${helper}(${args.map((arg) => arg.code).join(",")}${tellsWork(helper)});`);
  emitCost(emitter, plan, args, result);
  return { code: result, can: ANY };
}

/** Passes the meter to helpers that account for their work. */
const tellsWork = (helper: HelperName): string => (helper === h.add || helper === h.insertAll ? ",c" : "");

function emitNot(emitter: Emitting, [operand]: Args): Out {
  const { code } = emitter;
  const result = code.temp();
  const { code: value, can } = operand as Out;
  if (can === CAN.BOOL) code.add(`${result}=!${value};`);
  else code.add(`${result}=${value}===true?false:${value}===false?true:${h.notBool}(${value});`);
  emitter.lump(1);
  return { code: result, can: can === CAN.BOOL ? CAN.BOOL : CAN.BOOL | CAN.ERROR };
}

function emitNotFalse(emitter: Emitting, [operand]: Args): Out {
  emitter.lump(1);
  return { code: `(${(operand as Out).code}!==false)`, can: CAN.BOOL };
}

/** Length of texts up to which a comparison costs one unit, or none when empty. */
const ONE_UNIT = 10;

function emitEquality(emitter: Emitting, [a, b]: Args, helper: HelperName): Out {
  const [left, right] = [a as Out, b as Out];
  const { code } = emitter;
  const result = code.temp();
  const operator = helper === h.notEqual ? "!==" : "===";
  const slow = `${result}=${helper}(${left.code},${right.code},c);`;
  const fixed = right.constant !== undefined ? right : left.constant !== undefined ? left : undefined;
  const other = fixed === right ? left : right;
  const can = CAN.BOOL | CAN.ERROR;
  const value = fixed?.constant;
  if (typeof value === "string") {
    code.add(`if(typeof ${other.code}==="string"){${result}=${other.code}${operator}${fixed?.code};`);
    const size = costSize(value);
    if (size > ONE_UNIT) emitter.lump(shorterOf(other, fixed as Out));
    else if (size > 0) emitter.lump(`(${other.code}.length===0?0:1)`);
  } else if (typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value))) {
    code.add(`if(typeof ${other.code}==="${typeof value}"){${result}=${other.code}${operator}${fixed?.code};`);
    emitter.lump(1);
  } else if (fixed === undefined) {
    // Objects are compared by value, so only what typeof calls a text, number or bool can be compared in place.
    code.add(`if(typeof ${left.code}===typeof ${right.code}&&typeof ${left.code}!=="object"){`);
    code.add(`${result}=${left.code}${operator}${right.code};`);
    emitter.lump(`(typeof ${left.code}==="string"?${shorterOf(left, right)}:1)`);
  } else {
    code.add(slow);
    emitter.lump(m.steps);
    return { code: result, can };
  }
  code.add(`}else{${slow}`);
  emitter.lump(m.steps);
  code.add("}");
  return { code: result, can };
}

/** The cost of comparing two texts, whose sizes may be known. */
function shorterOf(left: Out, right: Out): string {
  const sizes = [left, right].map((arg) => knownSizeOf(arg) ?? "undefined");
  const told = sizes.every((size) => size === "undefined") ? [] : sizes;
  return `${h.shorter}(${[left.code, right.code, "c", ...told].join(",")})`;
}

function emitOrder(emitter: Emitting, plan: CallPlan, args: Args): Out {
  const [left, right] = args as [Out, Out];
  const { code } = emitter;
  const result = code.temp();
  const operator = plan.name.slice(1, -1);
  const numeric = args
    .filter(({ constant }) => typeof constant !== "number" || Number.isNaN(constant))
    // NaN is a number without an order; the helper handles it.
    .map(({ code: arg }) => `typeof ${arg}==="number"&&${arg}===${arg}`);
  const slow = `${h.ordered}(${code.constant(plan.name)},${left.code},${right.code},c)`;
  const textual = plan.kinds.includes("string");
  if (numeric.length === 0 || textual) code.add(`${result}=${slow};`);
  else code.add(`${result}=${numeric.join("&&")}?${left.code}${operator}${right.code}:${slow};`);
  emitCost(emitter, plan, args, result);
  return { code: result, can: CAN.BOOL | CAN.ERROR };
}

/** The test that an operand is an int of 32 bits. */
function small(arg: Out): string | undefined {
  if (typeof arg.constant === "number") return (arg.constant | 0) === arg.constant ? undefined : "false";
  return `typeof ${arg.code}==="number"&&(${arg.code}|0)===${arg.code}`;
}

function emitArithmetic(emitter: Emitting, plan: CallPlan, args: Args, helper: HelperName, operator: string): Out {
  const [left, right] = args as [Out, Out];
  const tests = args.map(small).filter((test) => test !== undefined);
  const intLike = plan.kinds.every((kind) => kind === "int" || kind === "dyn" || kind === "param");
  if (!intLike || tests.length === 0 || tests.includes("false")) return emitHelper(emitter, plan, args, helper);
  const { code } = emitter;
  const result = code.temp();
  const slow = `${helper}(${left.code},${right.code}${tellsWork(helper)})`;
  if (operator === "*") {
    // The product of two ints of 32 bits may exceed 2^53; and -1 * 0 must not become -0.
    code.add(
      `if(!(${tests.join("&&")}&&(${result}=${left.code}*${right.code}+0)<=9007199254740991&&${result}>=-9007199254740991))${result}=${slow};`,
    );
  } else code.add(`${result}=${tests.join("&&")}?${left.code}${operator}${right.code}:${slow};`);
  emitCost(emitter, plan, args, result);
  return { code: result, can: ANY };
}

function emitAdd(emitter: Emitting, plan: CallPlan, args: Args): Out {
  const [left, right] = args as [Out, Out];
  if (!plan.kinds.includes("string")) return emitArithmetic(emitter, plan, args, h.add, "+");
  const { code } = emitter;
  const result = code.temp();
  const tests = args.filter(({ can }) => can !== CAN.STRING).map(({ code: arg }) => `typeof ${arg}==="string"`);
  const slow = `${h.add}(${left.code},${right.code},c)`;
  if (plan.overload !== "add_string" || tests.length === 0 || !emitter.options.counting) {
    code.add(`${result}=${tests.length === 0 ? "true" : tests.join("&&")}?${left.code}+${right.code}:${slow};`);
    emitCost(emitter, plan, args, result);
    return { code: result, can: CAN.STRING | CAN.ERROR };
  }
  // The size of a sum is the sum of the sizes: a chain of texts is measured once.
  const size = code.temp();
  code.add(`if(${tests.join("&&")}){${result}=${left.code}+${right.code};${size}=${sizeOf(left)}+${sizeOf(right)};`);
  emitter.work(size);
  emitter.lump(`${h.ceil}(${size}*0.1)`);
  code.add(`}else{${result}=${slow};`);
  emitCost(emitter, plan, args, result);
  code.add("}");
  return { code: result, can: CAN.STRING | CAN.ERROR, size };
}

/** The number of code points of a text. */
const sizeOf = (arg: Out): string => knownSizeOf(arg) ?? `${h.codePoints}(${arg.code})`;

const knownSizeOf = (arg: Out): string | undefined =>
  typeof arg.constant === "string" ? String(costSize(arg.constant)) : arg.size;

function emitIn(emitter: Emitting, plan: CallPlan, args: Args): Out {
  const [left, right] = args as [Out, Out];
  const { code } = emitter;
  const result = code.temp();
  const slow = `(${m.cost}=cost,${h.contained}(${left.code},${right.code},c))`;
  if (plan.kinds[1] === "list") code.add(`${result}=${slow};`);
  else {
    const value = code.temp();
    const map = right.code;
    // An inherited member is a function, which is never data; only `__proto__` needs its own test.
    code.add(
      `${result}=typeof ${left.code}==="string"&&typeof ${map}==="object"&&${map}!==null&&${map}[${h.MARK}]===undefined&&!${h.isArray}(${map})&&${map}.BYTES_PER_ELEMENT===undefined&&${left.code}!=="__proto__"&&(${value}=${map}[${left.code}])!==undefined&&typeof ${value}!=="function"?true:${slow};`,
    );
  }
  emitCost(emitter, plan, args, result);
  return { code: result, can: CAN.BOOL | CAN.ERROR };
}
