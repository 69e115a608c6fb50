/** `text.split(':')[0]`: that piece, without a list of all of them. What it fails with comes of the call itself. */
import { textCostOf } from "../cost/runtime-cost.js";
import type { Out } from "./code.js";
import { emitCost } from "./emit-cost.js";
import { emitWork } from "./emit-work.js";
import type { Emitting } from "./emitting.js";
import { guarded } from "./guarded.js";
import { h, m } from "./names.js";
import type { AttributePlan, CallPlan, Plan } from "./plan.js";

/** A piece that is asked for. */
interface Piece {
  readonly call: CallPlan;
  readonly index: number;
}

/** The piece that an attribute begins with; `undefined` where it begins otherwise. */
export function pieceOf({ options }: Emitting, { root, qualifiers, maybeOptional }: AttributePlan): Piece | undefined {
  const [first] = qualifiers;
  if (root.kind !== "operand" || root.plan.kind !== "call" || maybeOptional || options.trace) return undefined;
  const call = root.plan;
  if (call.textOverload !== "string_split_string" || call.stopsAtError || call.callee === undefined) return undefined;
  // Of other costs the list itself would be looked at.
  if (typeof call.cost === "number" || textCostOf(call.cost)?.measures !== "points") return undefined;
  const separator = constantOf(call.args[1]);
  if (typeof separator !== "string" || separator === "" || first === undefined || first.optional) return undefined;
  const index = first.test ? undefined : constantOf(first.key);
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? { call, index } : undefined;
}

const constantOf = (plan: Plan | undefined) => (plan?.kind === "const" ? plan.value : undefined);

/**
 * Writes the call and the step behind it.
 * @param leave what ends the chain when a value is an error
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
