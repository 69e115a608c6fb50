/** The members of a group and what they answered. */
import type { Outcome, Policy } from "../../policy/index.js";

/** A member: a policy under the name that the group's expression calls. */
export interface GroupMember {
  /** A CEL identifier, unique in the group. */
  readonly name: string;
  readonly policy: Policy;
  /** Milliseconds that one answer may take; Infinity for no limit but the group's. */
  readonly timeout: number;
}

/** One answer of a member. */
export interface MemberAnswer {
  readonly member: string;
  readonly outcome: Outcome;
}

/** What a group says when one of its members changes the object: groups decide, they do not mutate (spec kubewarden.md 5.2). */
export const MUTATION_IN_GROUP = "mutation is not allowed inside of policy group";

/** A member's outcome as its group counts it: an answer that carries a change is an error, whatever its verdict. */
export function outcomeInGroup(outcome: Outcome): Outcome {
  const mutates = (outcome.verdict === "allow" || outcome.verdict === "deny") && outcome.mutation !== undefined;
  if (!mutates) return outcome;
  const { warnings, auditAnnotations } = outcome;
  return {
    verdict: "error",
    message: MUTATION_IN_GROUP,
    cause: "mutation",
    ...(warnings === undefined ? {} : { warnings }),
    ...(auditAnnotations === undefined ? {} : { auditAnnotations }),
  };
}
