/** Go's types of the members of `metadata` and `status`. */
import { readTime } from "../../../kubernetes/go-types/go-time.js";
import { integer, parsed, string, struct } from "./api-type.js";

/** A time (`metav1.Time`). */
export const TIME = parsed((text) => {
  const time = readTime(text);
  return "error" in time ? time.error : undefined;
});

/** An item of `status.conditions`. */
export const CONDITION = struct("v1.Condition", {
  type: string(),
  status: string("v1.ConditionStatus"),
  observedGeneration: integer,
  lastTransitionTime: TIME,
  reason: string(),
  message: string(),
});
