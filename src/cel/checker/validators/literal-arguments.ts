/** Literal arguments that can't be converted are compile errors (spec kubernetes-cel.md 7.4). */
import type { CallExpr } from "../../ast.js";
import type { CheckedExpr, Declarations } from "../../checked.js";
import type { Implementation } from "../../declarations.js";
import type { IssueCollector } from "../../issues.js";
import { CelError } from "../../values/cel-error.js";
import { Interruption } from "../../values/interruption.js";
import type { Value } from "../../values/value.js";

/** Checks the first argument of `duration` and `timestamp` calls by converting it. */
export function validateConversion(
  call: CallExpr,
  checked: CheckedExpr,
  declarations: Declarations,
  issues: IssueCollector,
): void {
  const [argument] = call.args;
  if (argument?.kind !== "literal") return;
  const candidates = checked.overloads.get(call.id);
  const conversion = declarations.functions
    .get(call.function)
    ?.overloads.find(({ id }) => candidates?.includes(id) === true);
  // The checker lets null stand for a timestamp or duration; there is no conversion of it.
  const isNull = argument.value === null;
  if (isNull || conversion?.implementation?.(argument.value) instanceof CelError) {
    issues.add(argument.offset, `invalid ${call.function} argument`, "invalid-argument", { id: argument.id });
  }
}

/**
 * Checks the first argument of `matches` calls as a pattern. Of a free call that is the subject: a quirk of the reference that decides
 * which expressions a cluster accepts.
 */
export function validatePattern(call: CallExpr, declarations: Declarations, issues: IssueCollector): void {
  const [argument] = call.args;
  if (argument?.kind !== "literal") return;
  const matches = declarations.functions.get("matches");
  const match = matches?.dynamic ?? matches?.overloads[0]?.implementation;
  if (isRefused(match, argument.value)) {
    issues.add(argument.offset, "invalid matches argument", "invalid-argument", { id: argument.id });
  }
}

/** Whether a literal is not a valid pattern. One that is too large for a pattern from data is left to the making of the program, where patterns may be larger. */
function isRefused(match: Implementation | undefined, pattern: Value): boolean {
  try {
    return match?.("", pattern) instanceof CelError;
  } catch (error) {
    if (error instanceof Interruption) return false;
    throw error;
  }
}
