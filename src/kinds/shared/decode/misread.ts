/** Decoding errors as mistakes of fields, and which other mistakes are only their consequences. */
import { nearest } from "../../../data/suggest.js";
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import type { Misread } from "./api-type.js";

/** The mistake of a field, with the member that was probably meant. */
export function misread({ path, text: what, members }: Misread, refusal = ""): FieldError {
  const near = members === undefined ? undefined : nearest(String(path.at(-1)), members);
  return { path, text: refusal + what, ...(near !== undefined && { hint: `write ${near}` }) };
}

/** Whether a mistake is only a consequence of decoding errors: it disappears when those are corrected. */
export const isConsequence = (error: FieldError, of: readonly FieldError[]): boolean =>
  of.some((mistake) => follows(error, mistake));

function follows({ path, text, code }: FieldError, { path: wrong, text: said }: FieldError): boolean {
  if (beginsWith(path, wrong)) return true;
  const isMissing = text.startsWith("Required value");
  if (isMissing && beginsWith(wrong, path)) return true;
  const isBeside = path.length === wrong.length && beginsWith(path, wrong.slice(0, -1));
  // A misspelt member also leaves the right one missing, and one that stands for several may be any of them.
  if (isMissing && isBeside && (isUnknown(said) || text.includes(String(wrong.at(-1))))) return true;
  if (code !== "CEL_EXPRESSION") return false;
  const [, member] = wrong;
  if (member === "variables") return /undefined field|undeclared reference to 'variables'/.test(text);
  return member === "paramKind" && /undeclared reference to 'params'/.test(text);
}

const isUnknown = (text: string): boolean => text.includes("unknown field") || text.includes("there is no field");

const beginsWith = (path: FieldPath, start: FieldPath): boolean =>
  start.length <= path.length && start.every((part, i) => part === path[i]);
