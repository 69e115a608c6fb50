/** `validate.pattern` and `validate.anyPattern`. */
import type { Cel } from "../cel-text.js";
import type { RuleWriter } from "../convert-rule.js";
import { NotConverted } from "../not-converted.js";
import type { Scope } from "../scope.js";

export const patternRule: RuleWriter = () => {
  throw new NotConverted([], "to be written");
};

/** Whether a value passes a pattern or skips it, and whether it skips: for loops, which count neither. */
export function patternHolds(_pattern: unknown, _value: Cel, _scope: Scope): { readonly ok: Cel; readonly skips: Cel } {
  throw new NotConverted([], "to be written");
}
