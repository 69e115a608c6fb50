/**
 * The outcome of an evaluation. The four cases travel unchanged from the policy to `served/verdict`, the one place that turns them into an answer: an
 * error or a skip must never be mistaken for an *allow*.
 */

/** One reason of a denial, as `status.details.causes` shows it (spec kubewarden.md 3.3). */
export interface Cause {
  readonly reason: string | null;
  readonly message: string | null;
  /** A path such as `spec.policies.<member>`. */
  readonly field: string | null;
}

/** A failed validation with an action other than Deny: data, so that logs, metrics and annotations need not read warnings. */
export interface Found {
  readonly action: "Audit" | "Warn";
  /** The validation's own message, or its error. */
  readonly message: string;
  /** The name of its policy; absent: the entry has one only. */
  readonly policy?: string;
  readonly binding?: string;
  /** The position in the policy's validations; absent where the policy has an annotation of its own for it. */
  readonly index?: number;
  /** All actions on the validation. */
  readonly actions?: readonly string[];
  /** The member of a group whose policy it is; in a group within the group `<member>/<member>`. */
  readonly member?: string;
}

/** Details that every outcome may have. */
export interface Findings {
  /** Warnings for the client, in the policy's words. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** The findings of actions other than Deny, those of a group's members included. */
  readonly found?: readonly Found[];
  /** Full reasons of failures on the way, for the decision record, never for an answer, with addresses, files and accounts. */
  readonly detail?: string;
  /** Findings for reports on objects, never for an answer. An allow has none. */
  readonly report?: ReportedFindings;
  /**
   * The explanation in the answer to a raw request, as JSON. An AdmissionReview has no place for it, and a group's answer has its own. Made when it
   * is shown.
   */
  readonly account?: () => Readonly<Record<string, unknown>>;
}

/** The values that reports show of an outcome (spec kyverno.md 7.1): the outcome's message may be a sentence around them. */
export interface ReportedFindings {
  /** The policy's own message, where the outcome's message names the policy before them. */
  readonly message?: string;
  /** The deciding part of the policy, such as `exception`; absent: its validations. */
  readonly rule?: string;
  /** The first binding that objects. */
  readonly binding?: string;
  /** The actions of the objecting policies or bindings, as they are written. */
  readonly actions?: readonly string[];
  /** The reason why an object that matches has no finding: a match condition is false, an exception exempts it, or no policy has decided. */
  readonly passedOver?: "condition" | "exception" | "unprocessed";
  readonly properties?: Readonly<Record<string, string>>;
  /** Names of the exceptions that exempt the object, without their namespaces. */
  readonly exceptions?: readonly string[];
}

/** The request may pass. */
export interface Allow extends Findings {
  readonly verdict: "allow";
  /** The policy's own message; kept in the answer's status even though it allows (spec kubewarden.md 4.1). */
  readonly message?: string;
  readonly code?: number;
  /** The object as the policy wants it; absent when unchanged. */
  readonly mutation?: Mutation;
}

/** A denial by the policy. */
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
  /** Fields of a metav1.Status that a policy returned as a whole (OPA), unchanged. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A policy that could not decide: a trap, a time-out, an evaluation error, a missing capability. Denies with code 500. */
export interface Failure extends Findings {
  readonly verdict: "error";
  /** For the client: no paths, no stacks, no objects, no addresses and no accounts; those stand in `detail`. */
  readonly message: string;
  /** Default 500. */
  readonly code?: number;
  /** A metav1 reason such as `Invalid`. */
  readonly reason?: string;
  /** The kind of failure, for metrics and the decision record. */
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

/** A policy that does not apply to the request: it counts as accepted, with the reason. */
export interface Skip extends Findings {
  readonly verdict: "skip";
  /** Such as `no resource rule matches`. */
  readonly reason: string;
}

/** A change the policy wants. */
export type Mutation =
  /**
   * The whole new object, from policies of the library's users; no built-in kind returns it. The patch is computed on the main thread while the
   * answer is made: not suited to large objects of untrusted senders.
   */
  | { readonly kind: "object"; readonly object: unknown }
  /**
   * A JSON Patch in base64 (standard alphabet, padded). `changed`: the patched object, where it is known; policies that validate others' changes
   * evaluate it.
   */
  | { readonly kind: "patch"; readonly patch: string; readonly changed?: { readonly object: unknown } }
  /** A change of a missing object (spec kubewarden.md 4.1): denied, and an error in a group. */
  | { readonly kind: "of-nothing" };

/** A policy's result for a request. */
export type Outcome = Allow | Deny | Failure | Skip;
