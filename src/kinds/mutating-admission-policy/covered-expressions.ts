import { commonExpressionsOf } from "../admission-policy/covered-expressions.js";
import type { CoveredExpression } from "../shared/coverage/coverage.js";
import type { PreparedPolicy } from "./prepared-policy.js";
import type { MutationMember } from "./resource.js";

/** The expressions of a policy with their places: match conditions must be seen both true and false, the others evaluated. */
export function* expressionsOf(policy: PreparedPolicy): Iterable<CoveredExpression> {
  yield* commonExpressionsOf(policy);
  for (const [i, { patchType, expressions }] of policy.mutations.entries()) {
    const member: MutationMember = patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
    const path = `spec.mutations[${i}].${member}.expression`;
    yield { policy: policy.name, path, name: undefined, expression: expressions[0], wanted: "evaluated" };
  }
}
