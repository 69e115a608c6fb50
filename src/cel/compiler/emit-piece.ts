/** `text.split(':')[0]`: the piece alone, without a list of all pieces. Errors come from the call itself. */
import { textCostOf } from "../cost/runtime-cost.js";
import { CAN, type Out } from "./code.js";
import { emitCost } from "./emit-cost.js";
import { emitWork } from "./emit-work.js";
import type { Emitting } from "./emitting.js";
import { h, m } from "./names.js";
import type { AttributePlan, CallPlan, Plan } from "./plan.js";

/** The beginning of a conditional that ends with the first argument that is an error. */
export function guarded(args: readonly Out[]): string {
  return args
    .filter(({ can }) => (can & CAN.ERROR) !== 0)
    .map(({ code }) => `${code} instanceof ${h.E}?${code}:`)
    .join("");
}

/** A call of `split` with the index of the piece that is read. */
interface Piece {
  readonly call: CallPlan;
  readonly index: number;
}

/** The piece at the beginning of an attribute; `undefined` where it begins otherwise. */
export function pieceOf({ options }: Emitting, { root, qualifiers, maybeOptional }: AttributePlan): Piece | undefined {
  const [first] = qualifiers;
  if (root.kind !== "operand" || root.plan.kind !== "call" || maybeOptional || options.trace) return undefined;
  const call = root.plan;
  if (call.textOverload !== "string_split_string" || call.stopsAtError || call.callee === undefined) return undefined;
  // Rules of other kinds would measure the list itself.
  if (typeof call.cost === "number" || textCostOf(call.cost)?.measures !== "points") return undefined;
  const separator = constantOf(call.args[1]);
  if (typeof separator !== "string" || separator === "" || first === undefined || first.optional) return undefined;
  const index = first.test ? undefined : constantOf(first.key);
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? { call, index } : undefined;
}

const constantOf = (plan: Plan | undefined) => (plan?.kind === "const" ? plan.value : undefined);

/**
 * Writes the call and the step behind it.
 * @param leave writes the end of the chain when a value is an error
 * @returns the piece
 */
export function emitPiece(emitter: Emitting, { call, index }: Piece, leave: (value: string) => string): string {
  const { code } = emitter;
  const args = call.args.map((arg) => emitter.emit(arg)) as [Out, Out];
  const [text, separator] = args;
  const [piece, list] = [code.temp(), code.temp()];
  emitWork(emitter, call, args);
  code.add(
    `if(typeof ${text.code}==="string"&&(${piece}=${h.piece}(${text.code},${separator.code},${index}))!==undefined){`,
  );
  const factor = typeof call.cost === "number" ? 0 : (textCostOf(call.cost)?.factor ?? 0);
  emitter.lump(`${h.ceil}(${text.size ?? `${h.codePoints}(${text.code})`}*${factor}*0.1)`);
  emitter.units(1);
  code.add(`}else{${list}=${guarded(args)}${code.constant(call.callee)}(${text.code},${separator.code});`);
  emitCost(emitter, call, args, list);
  code.add(`${leave(list)}${piece}=${h.walk}(${list},${code.constant([index])},c,false);`);
  emitter.units(m.steps);
  code.add(`${leave(piece)}}`);
  return piece;
}
