import { commonExpressionsOf, coveredList } from "../admission-policy/covered-expressions.js";
import type { CoveredExpression } from "../shared/coverage/coverage.js";
import type { PreparedPolicy } from "./prepared-policy.js";

/** The expressions of a policy with their places: validations and match conditions must be seen both true and false, the others evaluated. */
export function* expressionsOf(policy: PreparedPolicy): Iterable<CoveredExpression> {
  const { name, expressions, messages, annotations, annotationKeys } = policy;
  yield* commonExpressionsOf(policy);
  yield* coveredList(name, "validations", "expression", expressions, "both");
  yield* coveredList(name, "validations", "messageExpression", messages, "evaluated");
  yield* coveredList(name, "auditAnnotations", "valueExpression", annotations, "evaluated", annotationKeys);
}
