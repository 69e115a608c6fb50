/** The decision of ValidatingAdmissionPolicies about a request, before it is put into words. */
import type { Failure, Found, Skip } from "../../policy/outcome.js";
import type { PreparedBinding, PreparedPolicy } from "./prepared-policy.js";

/** A policy's objection to a request. */
export interface Violation {
  /**
   * `false`: a validation does not hold. `error`: it could not be evaluated. The binding's actions do not apply to the others: `annotation`: an audit
   * annotation could not be made; `configuration`: nothing could be evaluated.
   */
  readonly kind: "false" | "error" | "annotation" | "configuration";
  readonly message: string;
  /** `undefined` for errors, and for validations without one: `Invalid`. */
  readonly reason: string | undefined;
  /** The index of the validation, 0 for the evaluation as a whole; `undefined` for what is not about validations. */
  readonly index: number | undefined;
}

/** A violation with its policy and binding. */
export interface BoundViolation extends Violation {
  readonly policy: PreparedPolicy;
  /** `undefined` when the violation was found before a binding was reached. */
  readonly binding: PreparedBinding | undefined;
}

/** A policy's audit annotation, its values joined. */
export interface PublishedAnnotation {
  readonly policy: string;
  readonly key: string;
  readonly value: string;
}

/** Why policies do not apply. */
export type Skipped = Pick<Skip, "reason" | "report">;

/** The decision of all policies together. */
export interface PolicyDecision {
  /** The denials: the first one is the answer, all of them are causes. */
  readonly denials: readonly BoundViolation[];
  readonly warnings: readonly string[];
  /** The violations behind the warnings, and those in the validation_failure annotation. */
  readonly found: readonly Found[];
  readonly annotations: readonly PublishedAnnotation[];
  /** Why none of the policies applies; `undefined` when one was evaluated or failed. */
  readonly skipped: Skipped | undefined;
  /** The request fails, whatever the policies say: its Namespace could not be had, or time ran out. */
  readonly failure: Failure | undefined;
  /** The whole reasons of look-ups that failed, for the log. */
  readonly detail?: string;
}

const NOTHING: PolicyDecision = {
  denials: [],
  warnings: [],
  found: [],
  annotations: [],
  skipped: undefined,
  failure: undefined,
};

/** The decision where no policy is asked. */
export const skippedBecause = (reason: string): PolicyDecision => ({ ...NOTHING, skipped: { reason } });

/** The decision of a failed request. */
export const failedWith = (failure: Failure): PolicyDecision => ({ ...NOTHING, failure });

/** The whole text of a denial, as the API server words it (spec validating-admission-policy.md 7.6). */
export function denialMessage({ policy: { title }, binding, message }: BoundViolation): string {
  if (title === "") return message;
  return binding?.name === undefined
    ? `${title} denied request: ${message}`
    : `${title} with binding '${binding.name}' denied request: ${message}`;
}

/** The HTTP code of a reason (spec validating-admission-policy.md 7.4). */
export function reasonCode(reason: string): number {
  switch (reason) {
    case "Unauthorized":
      return 401;
    case "Forbidden":
      return 403;
    case "RequestEntityTooLarge":
      return 413;
    default:
      return 422;
  }
}
