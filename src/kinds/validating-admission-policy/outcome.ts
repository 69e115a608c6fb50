/** A decision as the Outcome of one policy, in the words of a webhook's answer (spec validating-admission-policy.md 2.3 to 2.6). */
import type { Cause, Findings, Outcome } from "../../policy/outcome.js";
import { validationFailure } from "./audit.js";
import { type BoundViolation, denialMessage, type PolicyDecision, reasonCode } from "./decision.js";

/** Longest name part of an annotation's key. */
const KEY_MAX = 63;
const FAILURE_KEY = "validation_failure";

/** What most requests come to. */
const ALLOWED: Outcome = { verdict: "allow" };
const NONE: Findings = {};

/** Puts a decision into words. Denials come before skips, and a failure before both. */
export function outcomeOf(decision: PolicyDecision): Outcome {
  const { detail } = decision;
  return detail === undefined ? answerOf(decision) : { ...answerOf(decision), detail };
}

function answerOf(decision: PolicyDecision): Outcome {
  const findings = findingsOf(decision);
  const { failure, denials, skipped } = decision;
  if (failure !== undefined) return { ...failure, ...findings };
  const [first] = denials;
  if (first !== undefined) {
    const message = denialMessage(first);
    const reason = first.reason || "Invalid";
    const causes = denials.map(causeOf);
    const code = reasonCode(reason);
    // A validation that is false denies for certain. When all that happened are errors, nobody knows: an error must not read as a *no*.
    if (denials.some(({ kind }) => kind === "false"))
      return { verdict: "deny", message, code, reason, causes, ...findings };
    const cause = first.kind === "configuration" ? "unavailable" : "expression";
    return { verdict: "error", message, code, reason, cause, causes, ...findings };
  }
  if (skipped !== undefined) return { verdict: "skip", reason: skipped, ...findings };
  return findings === NONE ? ALLOWED : { verdict: "allow", ...findings };
}

function causeOf(denial: BoundViolation): Cause {
  return {
    reason: denial.reason ?? null,
    message: denialMessage(denial),
    field: denial.index === undefined ? null : `spec.validations[${denial.index}].expression`,
  };
}

function findingsOf(decision: PolicyDecision): Findings {
  const { warnings } = decision;
  const annotations = webhookAnnotations(decision);
  if (warnings.length === 0 && annotations === undefined) return NONE;
  return {
    ...(warnings.length > 0 && { warnings }),
    ...(annotations !== undefined && { auditAnnotations: annotations }),
  };
}

/** Keys without a slash, which the API server would drop: the policy's name goes before a key that two policies use. */
function webhookAnnotations(decision: PolicyDecision): Record<string, string> | undefined {
  if (decision.annotations.length === 0 && decision.audited.length === 0) return undefined;
  const users = new Map<string, Set<string>>();
  for (const { policy, key } of decision.annotations) {
    users.set(key, (users.get(key) ?? new Set()).add(policy));
  }
  const annotations: Record<string, string> = {};
  for (const { policy, key, value } of decision.annotations) {
    const alone = users.get(key)?.size === 1 && key !== FAILURE_KEY;
    annotations[shortened(alone ? key : `${policy}.${key}`)] ??= value;
  }
  const failures = validationFailure(decision);
  if (failures !== undefined) annotations[FAILURE_KEY] = failures;
  return annotations;
}

const shortened = (key: string): string => key.slice(-KEY_MAX).replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
