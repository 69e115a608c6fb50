/** What MutatingAdmissionPolicies make of a request, before it is put into anybody's words. */
import { goQuote } from "../../kubernetes/field-error.js";
import type { Failure } from "../../policy/outcome.js";
import type { PolicyError } from "./invocation.js";

/** What all policies together make of a request. */
export interface MutatingDecision {
  /** The object after all mutations; of a request that is refused it means nothing. `undefined`: there is none. */
  readonly object: unknown;
  /** Why it is refused: the first one is the answer, all of them are causes. */
  readonly refusals: readonly PolicyError[];
  /** The policies whose mutations the second pass has evaluated, in order. */
  readonly reinvoked: readonly string[];
  /** Why none of the policies applies; `undefined` when one was asked. */
  readonly skipped: string | undefined;
  /** The request fails, whatever the policies say: what answers a status, or time that ran out. */
  readonly failure: Failure | undefined;
  /** The whole reasons of look-ups that failed, for the log. */
  readonly detail?: string;
}

/** The decision where no policy is asked. */
export const skippedBecause = (reason: string, object: unknown): MutatingDecision => ({
  object,
  refusals: [],
  reinvoked: [],
  skipped: reason,
  failure: undefined,
});

/** The decision when there can be none. */
export const failedWith = (failure: Failure): MutatingDecision => ({
  object: undefined,
  refusals: [],
  reinvoked: [],
  skipped: undefined,
  failure,
});

/** The whole text of a refusal, as the API server words it (spec mutating-admission-policy.md 8). */
export const refusalMessage = ({ policy, binding, message }: PolicyError): string =>
  binding?.name === undefined
    ? `policy ${goQuote(policy.name)} denied request: ${message}`
    : `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;

/** The reason of a refusal. */
export const refusalReason = ({ kind }: PolicyError): string => (kind === "configuration" ? "Forbidden" : "Invalid");

/** What ends a request at once, failurePolicy or not: the API server answers a status of its own. */
export function internalError(cause: string): Failure {
  return {
    verdict: "error",
    message: `Internal error occurred: ${cause}`,
    code: 500,
    reason: "InternalError",
    cause: "internal",
    causes: [{ reason: null, message: cause, field: null }],
  };
}

/** The server's own handling of the request ends with Go's text; it answers 500. */
export interface Panic extends Failure {
  readonly panic: string;
}

export const panicked = (text: string): Panic => ({ ...internalError(text), panic: text });

/** A group and version that nobody has published the types of (spec mutating-admission-policy.md 7). */
export const unavailable = (kind: string): Failure => ({
  verdict: "error",
  message: `Resource kind ${kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
  code: 503,
  reason: "ServiceUnavailable",
  cause: "unavailable",
});
