/** A judgement as the Outcome of one policy, in the words of a webhook's answer (spec validating-admission-policy.md 2.3 to 2.6). */

import { validationFailure } from "../../batch/validating-admission-policy/native-result.js";
import type { Cause, Findings, Outcome } from "../../policy/outcome.js";
import { type Denial, denialMessage, type Judgement, reasonCode } from "./judgement.js";

/** Longest name part of an annotation's key. */
const KEY_MAX = 63;
const FAILURE_KEY = "validation_failure";

/** The outcome. */
export function outcomeOf(judgement: Judgement): Outcome {
  const findings = findingsOf(judgement);
  const { failure, denials, traces } = judgement;
  if (failure !== undefined) {
    const { message, notFound } = failure;
    const kind = notFound ? { code: 404, reason: "NotFound" } : { code: 500, reason: "InternalError" };
    return { verdict: "error", message, ...kind, cause: "unavailable", ...findings };
  }
  const [first] = denials;
  if (first !== undefined) {
    const message = denialMessage(first);
    const reason = first.reason || "Invalid";
    const causes = denials.map(causeOf);
    const code = reasonCode(reason);
    // A validation that is false denies for certain. When all that happened are errors, nobody knows: an error must not read as a *no*.
    if (denials.some(({ kind }) => kind === "violation"))
      return { verdict: "deny", message, code, reason, causes, ...findings };
    const cause = first.kind === "configuration" ? "unavailable" : "expression";
    return { verdict: "error", message, code, reason, cause, causes, ...findings };
  }
  const skipped = traces.every((trace) => trace.skipped !== undefined);
  if (skipped) return { verdict: "skip", reason: traces[0]?.skipped ?? "there is no policy", ...findings };
  return { verdict: "allow", ...findings };
}

function causeOf(denial: Denial): Cause {
  return {
    reason: denial.reason ?? null,
    message: denialMessage(denial),
    field: denial.index === undefined ? null : `spec.validations[${denial.index}].expression`,
  };
}

function findingsOf(judgement: Judgement): Findings {
  const annotations = webhookAnnotations(judgement);
  return {
    ...(judgement.warnings.length > 0 && { warnings: judgement.warnings }),
    ...(Object.keys(annotations).length > 0 && { auditAnnotations: annotations }),
  };
}

/** Keys without a slash, which the API server would drop: the policy's name goes before a key that two policies use. */
function webhookAnnotations(judgement: Judgement): Record<string, string> {
  const users = new Map<string, Set<string>>();
  for (const { policy, key } of judgement.annotations) {
    users.set(key, (users.get(key) ?? new Set()).add(policy));
  }
  const annotations: Record<string, string> = {};
  for (const { policy, key, value } of judgement.annotations) {
    const alone = users.get(key)?.size === 1 && key !== FAILURE_KEY;
    annotations[shortened(alone ? key : `${policy}.${key}`)] ??= value;
  }
  const failures = validationFailure(judgement);
  if (failures !== undefined) annotations[FAILURE_KEY] = failures;
  return annotations;
}

const shortened = (key: string): string => key.slice(-KEY_MAX).replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
