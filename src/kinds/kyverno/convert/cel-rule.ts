/** `validate.cel`: its expressions stay word for word. */

import type { JsonObject } from "../../../kubernetes/object.js";
import { NotConverted } from "./not-converted.js";
import type { OldRule } from "./old-policy.js";
import type { Scope } from "./scope.js";

/** Writes the validations, variables, annotations and conditions of `validate.cel` into the draft. */
export function celRule(_cel: unknown, _validate: JsonObject, _scope: Scope, _old: OldRule): void {
  throw new NotConverted([], "to be written");
}
