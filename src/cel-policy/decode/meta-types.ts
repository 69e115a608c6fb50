/** Go's types that the members of `metadata` and `status` have. */
import { goTimeError } from "../../data/go-time.js";
import { integer, parsed, string, struct } from "./api-type.js";

/** A time (`metav1.Time`). */
export const TIME = parsed(goTimeError);

/** An item of `status.conditions`. */
export const CONDITION = struct("v1.Condition", {
  type: string(),
  status: string("v1.ConditionStatus"),
  observedGeneration: integer,
  lastTransitionTime: TIME,
  reason: string(),
  message: string(),
});
