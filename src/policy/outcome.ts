/**
 * What evaluating one policy comes to. The four cases travel unflattened from the policy to `evaluation/verdict`, the one place that turns
 * them into an answer: an error or a skip must never be mistaken for an *allow*.
 */

/** One reason of a denial, as `status.details.causes` shows it (spec kubewarden.md 3.3). */
export interface Cause {
  readonly reason: string | null;
  readonly message: string | null;
  /** A path such as `spec.policies.<member>`. */
  readonly field: string | null;
}

/** What every outcome may bring along. */
export interface Findings {
  /** Warnings for the client, as the policy said them. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** For the decision record, never for an answer: the whole reasons of what failed on the way, with addresses, files and accounts. */
  readonly detail?: string;
  /** For reports on objects, never for an answer. What allows has none. */
  readonly report?: ReportedFindings;
  /**
   * What the answer to a raw request shows beside the verdict: how it came about, as JSON. Admission has no place for it, and a group's answer is its own.
   * Made when it is shown.
   */
  readonly account?: () => Readonly<Record<string, unknown>>;
}

/** What reports say of an outcome (spec kyverno.md 7.1), as values: the outcome's message may be a sentence around them. */
export interface ReportedFindings {
  /** The policy's own words, where the outcome's message names the policy before them. */
  readonly message?: string;
  /** The part of the policy that has decided, such as `exception`; absent: its validations. */
  readonly rule?: string;
  /** The first binding that objects. */
  readonly binding?: string;
  /** What the policies or bindings that object do about it, as they are written. */
  readonly actions?: readonly string[];
  /** Why nothing is said against an object that the policy is for: a match condition is false, an exception exempts it, or no policy has decided. */
  readonly passedOver?: "condition" | "exception" | "unprocessed";
  readonly properties?: Readonly<Record<string, string>>;
  /** Names of the exceptions that exempt the object, without namespaces. */
  readonly exceptions?: readonly string[];
}

/** The request may pass. */
export interface Allow extends Findings {
  readonly verdict: "allow";
  /** The policy's own words; kept in the answer's status even though it allows (spec kubewarden.md 4.1). */
  readonly message?: string;
  readonly code?: number;
  /** The object as the policy wants it; absent when unchanged. */
  readonly mutation?: Mutation;
}

/** The policy says no. */
export interface Deny extends Findings {
  readonly verdict: "deny";
  readonly message?: string;
  /** HTTP-like code for the status; absent when the policy gave none. */
  readonly code?: number;
  /** A metav1 reason such as `Invalid`. */
  readonly reason?: string;
  readonly causes?: readonly Cause[];
  /** A policy may deny and mutate at once; the mutation rule still applies. */
  readonly mutation?: Mutation;
  /** Fields of a metav1.Status that the policy returned whole (OPA): carried as they are. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The policy could not decide: a trap, a time-out, an evaluation error, a missing capability. Denies with code 500. */
export interface Failure extends Findings {
  readonly verdict: "error";
  /** For the client: no paths, no stacks, no objects, no addresses and no accounts; those stand in `detail`. */
  readonly message: string;
  /** Default 500. */
  readonly code?: number;
  /** A metav1 reason such as `Invalid`. */
  readonly reason?: string;
  /** What kind of failure, for metrics and the decision record. */
  readonly cause: FailureCause;
  /** Reasons to show beside the message (a group names its members that denied or failed). */
  readonly causes?: readonly Cause[];
  /** True when even monitor mode must reject (failed initialisation; spec kubewarden.md 3.6). */
  readonly final?: boolean;
}

/** The kinds of failure. */
export type FailureCause =
  | "timeout"
  | "abandoned"
  | "overload"
  | "trap"
  | "memory"
  | "protocol"
  | "capability"
  | "expression"
  | "mutation"
  | "unavailable"
  | "internal";

/** The policy does not apply to this request; counts as accepted, and says why. */
export interface Skip extends Findings {
  readonly verdict: "skip";
  /** Such as `no resource rule matches`. */
  readonly reason: string;
}

/** A change the policy wants. */
export type Mutation =
  /**
   * The whole new object. For policies that a user of the library writes; no kind of ours says it. The patch is computed while the answer is made:
   * not for large objects of strangers.
   */
  | { readonly kind: "object"; readonly object: unknown }
  /**
   * A JSON Patch in base64 (standard alphabet, padded). `changed`: what it makes of the object, where that is known; policies that judge what others
   * have made of it are asked about this.
   */
  | { readonly kind: "patch"; readonly patch: string; readonly changed?: { readonly object: unknown } }
  /** Of an object that is not there (spec kubewarden.md 4.1): it is denied, and an error in a group. */
  | { readonly kind: "of-nothing" };

/** What a policy made of a request. */
export type Outcome = Allow | Deny | Failure | Skip;
