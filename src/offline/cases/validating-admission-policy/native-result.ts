/**
 * The API server's own answer, as in-process admission gives it: native status, warnings and audit annotations with native keys
 * (spec validating-admission-policy.md 7.6 and 8).
 */

import type { RequestAttributes } from "../../../kinds/shared/match/request-attributes.js";
import { validationFailure } from "../../../kinds/validating-admission-policy/audit.js";
import { denialMessage, type PolicyDecision, reasonCode } from "../../../kinds/validating-admission-policy/decision.js";
import { qualifiedNameErrors } from "../../../kubernetes/name-formats.js";
import { type NativeStatus, requestName } from "../admission-policy/native-status.js";

const FAILURE_KEY = "validation.policy.admission.k8s.io/validation_failure";

/** A native answer. Members that would be empty are absent. */
export interface NativeResult {
  readonly allowed: boolean;
  readonly status?: NativeStatus;
  readonly warnings?: readonly string[];
  readonly clientWarnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** A decision in the API server's words. */
export function nativeResult(decision: PolicyDecision, request: RequestAttributes): NativeResult {
  const status = nativeStatus(decision, request);
  const annotations = nativeAnnotations(decision);
  return {
    allowed: status === undefined,
    ...(status && { status }),
    ...(decision.warnings.length > 0 && { warnings: decision.warnings }),
    ...(Object.keys(annotations).length > 0 && { auditAnnotations: annotations }),
  };
}

function nativeStatus(decision: PolicyDecision, request: RequestAttributes): NativeStatus | undefined {
  const { failure } = decision;
  if (failure !== undefined) {
    if (failure.reason !== "NotFound") return { status: "Failure", code: 500, message: failure.message };
    const details = { name: request.namespace, kind: "namespaces" };
    return { status: "Failure", code: 404, reason: "NotFound", message: failure.message, details };
  }
  const [first] = decision.denials;
  if (first === undefined) return undefined;
  const message = denialMessage(first);
  const reason = first.reason || "Invalid";
  const name = requestName(request);
  const { group, resource } = request.resource;
  return {
    status: "Failure",
    code: reasonCode(reason),
    reason,
    message: `${group === "" ? resource : `${resource}.${group}`} "${name}" is forbidden: ${message}`,
    details: { name, ...(group !== "" && { group }), kind: resource, causes: [{ message }] },
  };
}

/** Annotations by their native keys. The first value of a key stays; a key that is no qualified name is dropped. */
function nativeAnnotations(decision: PolicyDecision): Record<string, string> {
  const annotations: Record<string, string> = {};
  const add = (key: string, value: string): void => {
    if (qualifiedNameErrors(key).length === 0) annotations[key] ??= value;
  };
  for (const { policy, key, value } of decision.annotations) add(`${policy}/${key}`, value);
  const failures = validationFailure(decision);
  if (failures !== undefined) add(FAILURE_KEY, failures);
  return annotations;
}
