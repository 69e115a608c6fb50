/** What to write where an expression gives a value of another type than is wanted. */
import type { Environment, Type } from "../../../cel/index.js";
import { fits, type ResultType } from "./result-type.js";

/** The hint; undefined where only its author knows. What it proposes is compiled and tried before it is said: a constant, or what only fails, is not. */
export function resultHint(
  text: string,
  type: Type,
  wanted: ResultType,
  environment: Pick<Environment, "check" | "varies">,
): string | undefined {
  const source = text.trim();
  const whole = /^[\w.?()[\]"']+$/.test(source) ? source : `(${source})`;
  for (const [words, proposal] of proposals(whole, type, wanted)) {
    const checked = environment.check(proposal);
    if (checked.ok && fits(checked.type, wanted) && environment.varies(proposal))
      return `${words}${source.includes("\n") ? shape(proposal, whole) : proposal}`;
  }
  return undefined;
}

/** A text of many lines is not repeated. */
const shape = (proposal: string, whole: string): string => proposal.replace(whole, () => "(…)");

function proposals(
  whole: string,
  type: Type,
  wanted: ResultType,
): readonly (readonly [words: string, proposal: string])[] {
  const optional = type.kind === "opaque" && type.name === "optional_type";
  if (wanted === "bool") {
    const open = "an optional value is opened by orValue(): write ";
    if (optional)
      return [
        [open, `${whole}.orValue(false)`],
        [open, `${whole}.orValue(false) == true`],
      ];
    if (type.kind === "dyn") return [["nobody knows yet that it is true or false: write ", `${whole} == true`]];
    if (type.kind === "list" || type.kind === "map")
      return [["say what of it is right: write ", `size(${whole}) == 0`]];
    if (type.kind === "string") return [["compare it with something: write ", `${whole} == ""`]];
    return type.kind === "int" ? [["compare it with something: write ", `${whole} > 0`]] : [];
  }
  if (wanted === "string" || wanted === "string-or-null") {
    if (optional) return [["an optional value is opened by orValue(): write ", `${whole}.orValue("")`]];
    if (type.kind === "list") return [["put its texts together: write ", `${whole}.join(", ")`]];
    return [["make a text of it: write ", `string(${whole})`]];
  }
  if (wanted === "list(JSONPatch)" && type.kind === "object") return [["the patches are a list: write ", `[${whole}]`]];
  return [];
}
