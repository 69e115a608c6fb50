/** What all policies together say about a request, before it is put into anybody's words. */

/** A denial: the first one is the answer, all of them are causes. */
export interface Denial {
  /** Whose it is: `ValidatingAdmissionPolicy 'x'`, or `""` for an inline policy. */
  readonly title: string;
  readonly policy: string;
  /** `undefined` when it was raised before a binding was looked at, or the policy has none. */
  readonly binding: string | undefined;
  readonly text: string;
  /** `undefined`: `Invalid`. */
  readonly reason: string | undefined;
  /** Which validation; `undefined` for what concerns the policy as a whole. */
  readonly index: number | undefined;
  /** `violation`: a validation is false. `expression`: one could not be evaluated. `configuration`: nothing could. */
  readonly kind: "violation" | "expression" | "configuration";
}

/** One entry of the validation_failure annotation (spec validating-admission-policy.md 8.2). */
export interface AuditedFailure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

/** A policy's audit annotation, its values joined. */
export interface PublishedAnnotation {
  readonly policy: string;
  readonly key: string;
  readonly value: string;
}

/** What a policy did, for those who ask why. */
export interface PolicyTrace {
  readonly policy: string;
  /** Why it did not apply; `undefined` when it was evaluated or failed. */
  readonly skipped: string | undefined;
}

/** The judgement. */
export interface Judgement {
  readonly denials: readonly Denial[];
  readonly warnings: readonly string[];
  readonly failures: readonly AuditedFailure[];
  readonly annotations: readonly PublishedAnnotation[];
  readonly traces: readonly PolicyTrace[];
  /** The request's Namespace could not be had: the request fails with this text, whatever the policies say. */
  readonly failure: { readonly message: string; readonly notFound: boolean } | undefined;
}

/** The whole text of a denial, as the API server words it (spec validating-admission-policy.md 7.6). */
export function denialMessage({ title, binding, text }: Denial): string {
  if (title === "") return text;
  return binding === undefined
    ? `${title} denied request: ${text}`
    : `${title} with binding '${binding}' denied request: ${text}`;
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
