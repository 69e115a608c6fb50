/** The decision of MutatingAdmissionPolicies about a request, before it is worded as an answer. */
import { goQuote } from "../../kubernetes/field-error.js";
import type { Failure } from "../../policy/outcome.js";
import type { PolicyError } from "./invocation.js";

/** The decision of all policies together. */
export interface MutatingDecision {
  /** The object after all mutations; meaningless for a request that is refused. `undefined`: there is none. */
  readonly object: unknown;
  /** The reasons of a refusal: the first one is the answer, all of them are causes. */
  readonly refusals: readonly PolicyError[];
  /** The policies whose mutations the second pass has evaluated, in order. */
  readonly reinvoked: readonly string[];
  /** Why none of the policies applies; `undefined` when one was evaluated. */
  readonly skipped: string | undefined;
  /** The failure of the request, whatever the policies decide: a status of the API server, or a time-out. */
  readonly failure: Failure | undefined;
  /** The whole reasons of look-ups that failed, for the log. */
  readonly detail?: string;
}

/** The decision where no policy is evaluated. */
export const skippedBecause = (reason: string, object: unknown): MutatingDecision => ({
  object,
  refusals: [],
  reinvoked: [],
  skipped: reason,
  failure: undefined,
});

/** The decision of a failed request. */
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

/** The failure for a group and version without published types (spec mutating-admission-policy.md 7). */
export const unavailable = (kind: string): Failure => ({
  verdict: "error",
  message: `Resource kind ${kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
  code: 503,
  reason: "ServiceUnavailable",
  cause: "unavailable",
});
