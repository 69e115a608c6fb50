/**
 * Calls of string functions, written in place where their arguments are texts and numbers: without a search for the overload, and with each text measured
 * once, for the call and its cost. The library's function handles everything else.
 */
import { textCostOf } from "../cost/runtime-cost.js";
import { isFlat } from "../values/code-points.js";
import { CAN, type Out } from "./code.js";
import { emitCost } from "./emit-cost.js";
import { guarded } from "./emit-piece.js";
import { emitWork } from "./emit-work.js";
import type { Emitting } from "./emitting.js";
import { type HelperName, h } from "./names.js";
import type { CallPlan } from "./plan.js";

/** The written form of an overload. */
interface Form {
  readonly helper: HelperName;
  /** The kinds of the parameters. */
  readonly params: readonly Param[];
  /** The number of the helper's arguments before the first one's size; `undefined` where it does not use the size. */
  readonly sizeAt?: number;
  readonly can: number;
  /** How the result's size follows from the first argument's. */
  readonly size?: "part";
  /** The built-in method that does the same with ASCII letters, where only these may change. */
  readonly ascii?: "toLowerCase" | "toUpperCase";
}

type Param = "text" | "number" | "texts";

const [T, N]: readonly Param[] = ["text", "number"] as const;

const search = (helper: HelperName, ...more: readonly Param[]): Form => ({
  helper,
  params: [T, T, ...more],
  sizeAt: 3,
  can: CAN.NUMBER,
});
const edit = (helper: HelperName, ...params: readonly Param[]): Form => ({ helper, params, can: CAN.STRING });

/** By overload. */
const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ["string_char_at_int", { ...edit(h.charAt, T, N), sizeAt: 2, size: "part" }],
  ["string_index_of_string", search(h.indexOf)],
  ["string_index_of_string_int", search(h.indexOf, N)],
  ["string_last_index_of_string", search(h.lastIndexOf)],
  ["string_last_index_of_string_int", search(h.lastIndexOf, N)],
  ["string_lower_ascii", { ...edit(h.lowerAscii, T), ascii: "toLowerCase" }],
  ["string_upper_ascii", { ...edit(h.upperAscii, T), ascii: "toUpperCase" }],
  ["string_trim", { ...edit(h.trim, T), size: "part" }],
  ["string_substring_int", { ...edit(h.substring, T, N), sizeAt: 3, size: "part" }],
  ["string_substring_int_int", { ...edit(h.substring, T, N, N), sizeAt: 3, size: "part" }],
  ["string_replace_string_string", edit(h.replace, T, T, T)],
  ["string_replace_string_string_int", edit(h.replace, T, T, T, N)],
  ["string_split_string", { ...edit(h.split, T, T), can: CAN.OTHER }],
  ["string_split_string_int", { ...edit(h.split, T, T, N), can: CAN.OTHER }],
  ["list_join", edit(h.join, "texts")],
  ["list_join_string", edit(h.join, "texts", T)],
]);

/** Whether calls of an overload are written in place. */
export const isTextOverload = ({ id }: { readonly id: string }): boolean => FORMS.has(id);

/** The test that an argument has the form's type; `undefined` where it certainly has, `false` where it has not. */
function testOf({ code, can, constant }: Out, param: Param): string | false | undefined {
  if (param === "texts") {
    return constant === undefined
      ? `${h.isArray}(${code})&&(${code}.length===0||typeof ${code}[0]==="string")`
      : undefinedOrFalse(Array.isArray(constant) && (constant.length === 0 || typeof constant[0] === "string"));
  }
  if (param === "number") {
    // A double is a number, too, of which no function takes one.
    return constant === undefined
      ? `typeof ${code}==="number"&&(${code}|0)===${code}`
      : undefinedOrFalse(Number.isSafeInteger(constant));
  }
  if (constant !== undefined) return undefinedOrFalse(typeof constant === "string");
  return can === CAN.STRING ? undefined : `typeof ${code}==="string"`;
}

const undefinedOrFalse = (holds: boolean): false | undefined => (holds ? undefined : false);

/** Writes a call in place; `undefined` when there is no such form. */
export function emitTextCall(emitter: Emitting, plan: CallPlan, args: readonly Out[]): Out | undefined {
  const form = plan.textOverload === undefined ? undefined : FORMS.get(plan.textOverload);
  if (form === undefined || plan.callee === undefined || form.params.length !== args.length) return undefined;
  if (form.can === CAN.OTHER && emitter.options.marksLists) return undefined;
  const tests = args.map((arg, index) => testOf(arg, form.params[index] as Param));
  if (tests.includes(false)) return undefined;
  const { code } = emitter;
  const result = code.temp();
  emitWork(emitter, plan, args);
  code.add(`if(${tests.filter((test) => test !== undefined).join("&&") || "true"}){`);
  const measures = emitInPlace(emitter, plan, form, args, result);
  code.add(`}else{${result}=${guarded(args)}${code.constant(plan.callee)}(${args.map((arg) => arg.code).join(",")});`);
  emitCost(emitter, plan, args, result);
  code.add("}");
  // With several overloads left, another one may have answered.
  const can = plan.overload === undefined ? CAN_ALL : form.can | CAN.ERROR;
  return { code: result, can, ...measures };
}

const CAN_ALL = CAN.BOOL | CAN.NUMBER | CAN.STRING | CAN.OTHER | CAN.ERROR;

/** The known sizes of a result. */
type Measures = Pick<Out, "size" | "octets">;

const sized = (size: string | undefined): Measures => (size === undefined ? {} : { size });

/** The call with its cost; answers how the result's sizes are found. */
function emitInPlace(emitter: Emitting, plan: CallPlan, form: Form, args: readonly Out[], result: string): Measures {
  const { code, options } = emitter;
  const text = args[0] as Out;
  const cost = options.counting && typeof plan.cost !== "number" ? textCostOf(plan.cost) : undefined;
  if (form.ascii !== undefined && cost?.measures === "points") {
    return emitOtherCase(emitter, form.helper, form.ascii, cost.factor, text, result);
  }
  const size = cost?.measures === "points" ? measured(emitter, h.codePoints, text) : undefined;
  const octets = cost?.measures === "octets" ? measured(emitter, h.utf8Length, text) : undefined;
  // A text with as many octets as units is ASCII: each unit is a code point.
  const told = size ?? (octets === undefined ? undefined : `${octets}===${text.code}.length?${octets}:undefined`);
  const given = args.map((arg) => arg.code);
  if (form.sizeAt !== undefined && told !== undefined) {
    while (given.length < form.sizeAt) given.push("undefined");
    given.push(told);
  }
  code.add(`${result}=${form.helper}(${given.join(",")});`);
  if (cost?.measures === "points") emitter.lump(`${h.ceil}(${size}*${cost.factor}*0.1)`);
  else if (cost?.measures === "octets") emitter.lump(`${h.floor}(${octets}*0.1)`);
  else if (cost?.measures === "result" && form.helper === h.join) {
    const points = code.temp();
    code.add(`${points}=typeof ${result}==="string"?${h.pointsOfSum}(${result}):1;`);
    emitter.lump(`${h.ceil}(${points}*${cost.factor}*0.1)`);
    return { size: points };
  } else emitCost(emitter, plan, args, result);
  if (form.helper === h.replace) return { size: sizeOfReplaced(text, args[2] as Out, result, size) };
  return form.size === "part" ? sized(sizeOfPart(text, result, size)) : {};
}

/** Letters in the other case, which leaves both sizes as they are. A text with as many octets as units is ASCII's, and its size is known. */
function emitOtherCase(
  emitter: Emitting,
  helper: HelperName,
  ascii: "toLowerCase" | "toUpperCase",
  factor: number,
  text: Out,
  result: string,
): Measures {
  const { code } = emitter;
  const octets = measured(emitter, h.utf8Length, text);
  const size = code.temp();
  const points = text.size ?? `${h.codePoints}(${text.code})`;
  code.add(`if(${octets}===${text.code}.length){${size}=${octets};${result}=${text.code}.${ascii}();}`);
  code.add(`else{${size}=${points};${result}=${helper}(${text.code});}`);
  emitter.lump(`${h.ceil}(${size}*${factor}*0.1)`);
  return { size, octets };
}

/** A variable with a measure of a text. */
function measured(emitter: Emitting, measure: typeof h.codePoints | typeof h.utf8Length, text: Out): string {
  const variable = emitter.code.temp();
  const known = measure === h.codePoints ? text.size : text.octets;
  emitter.code.add(`${variable}=${known ?? `${measure}(${text.code})`};`);
  return variable;
}

/** A text without pairs of surrogates has no part with one. */
const sizeOfPart = (text: Out, result: string, size: string | undefined): string | undefined =>
  size === undefined ? undefined : `(${size}===${text.code}.length?${result}.length:${h.codePoints}(${result}))`;

/** The size after a replacement: joining the parts never brings two halves of a surrogate pair together. */
function sizeOfReplaced(text: Out, to: Out, result: string, size: string | undefined): string {
  const keeps = typeof to.constant === "string" && to.constant !== "" && isFlat(to.constant) && size !== undefined;
  const points = `${h.pointsOfSum}(${result})`;
  return keeps ? `(${size}===${text.code}.length?${result}.length:${points})` : points;
}
