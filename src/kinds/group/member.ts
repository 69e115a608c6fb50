/** The answers of a group's members. */
import type { Outcome } from "../../policy/index.js";

/** One answer of a member. */
export interface MemberAnswer {
  readonly member: string;
  readonly outcome: Outcome;
}

/** The group's error when one of its members changes the object: groups decide, they do not mutate (spec kubewarden.md 5.2). */
const MUTATION_IN_GROUP = "mutation is not allowed inside of policy group";

/** A member's outcome as its group counts it: an answer that carries a change is an error, whatever its verdict. */
export function outcomeInGroup(outcome: Outcome): Outcome {
  const mutates = (outcome.verdict === "allow" || outcome.verdict === "deny") && outcome.mutation !== undefined;
  if (!mutates) return outcome;
  const { warnings, auditAnnotations, found, detail } = outcome;
  return {
    verdict: "error",
    message: MUTATION_IN_GROUP,
    cause: "mutation",
    ...(warnings === undefined ? {} : { warnings }),
    ...(auditAnnotations === undefined ? {} : { auditAnnotations }),
    ...(found === undefined ? {} : { found }),
    ...(detail === undefined ? {} : { detail }),
  };
}
