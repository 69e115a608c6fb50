/** The API server's own answer, as in-process admission gives it (spec mutating-admission-policy.md 8). */

import {
  type MutatingDecision,
  type Panic,
  refusalMessage,
  refusalReason,
} from "../../../kinds/mutating-admission-policy/decision.js";
import type { RequestAttributes } from "../../../kinds/shared/match/request-attributes.js";
import type { Failure } from "../../../policy/outcome.js";
import { type NativeStatus, requestName } from "../admission-policy/native-status.js";

/** A native answer. Members that would be empty are absent. */
export interface NativeResult {
  readonly allowed: boolean;
  readonly status?: NativeStatus;
  /** What the plugin panics with; a server answers 500. */
  readonly panic?: string;
  /** The object after all mutations. */
  readonly object?: unknown;
  /** The policies whose mutations the second pass has evaluated. */
  readonly reinvoked?: readonly string[];
}

/** A decision in the API server's words. */
export function nativeResult(decision: MutatingDecision, request: RequestAttributes): NativeResult {
  const { object, reinvoked, failure } = decision;
  const again = reinvoked.length > 0 && { reinvoked };
  if (failure !== undefined && "panic" in failure) {
    return { panic: (failure as Panic).panic, allowed: false, ...again };
  }
  const status = nativeStatus(decision, request);
  return {
    allowed: status === undefined,
    ...(status && { status }),
    ...(status === undefined && object !== undefined && { object }),
    ...again,
  };
}

function nativeStatus({ failure, refusals }: MutatingDecision, request: RequestAttributes): NativeStatus | undefined {
  if (failure !== undefined) return failureStatus(failure, request);
  const [first] = refusals;
  if (first === undefined) return undefined;
  const { group, resource } = request.resource;
  return {
    status: "Failure",
    code: 403,
    reason: refusalReason(first),
    message: refusalMessage(first),
    details: {
      name: requestName(request),
      ...(group !== "" && { group }),
      kind: resource,
      causes: refusals.map((refusal) => ({ message: refusalMessage(refusal) })),
    },
  };
}

function failureStatus({ message, code = 500, reason, causes }: Failure, request: RequestAttributes): NativeStatus {
  const base = { status: "Failure", code, ...(reason !== undefined && { reason }), message };
  if (reason === "NotFound") return { ...base, details: { name: request.namespace, kind: "namespaces" } };
  if (causes === undefined) return base;
  return { ...base, details: { causes: causes.map((cause) => ({ message: cause.message ?? "" })) } };
}
