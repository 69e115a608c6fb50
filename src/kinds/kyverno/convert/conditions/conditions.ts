/** Conditions (`any`, `all`) of preconditions and denials. */
import type { Cel } from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import type { Scope } from "../scope.js";

/** Whether conditions hold: lazily from left to right, as the old language evaluates them. */
export function conditionsHold(_conditions: unknown, _scope: Scope): Cel {
  throw new NotConverted([], "to be written");
}
