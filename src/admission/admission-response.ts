/** The wire form of an AdmissionResponse (spec kubewarden.md 3.3). Absent members are left out by the encoder, or null where the wire has null. */

/** An entry of `status.details.causes`: always all three members on the wire. */
export interface StatusCause {
  readonly reason: string | null;
  readonly message: string | null;
  readonly field: string | null;
}

/** `status.details`: known members plus those that a policy with a whole status has added. */
export interface StatusDetails {
  readonly causes?: readonly StatusCause[];
  readonly [member: string]: unknown;
}

/** `status`: the parts of a metav1.Status that are used, plus those that a policy with a whole status has added. */
export interface ResponseStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
  readonly [member: string]: unknown;
}

/** The answer to one request. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  /** A JSON Patch in base64 (standard alphabet, padded); its type is always JSONPatch. */
  readonly patch?: string;
  readonly status?: ResponseStatus;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
  /** Further members of a raw answer, as JSON, other than those above. An AdmissionReview has no place for them. */
  readonly account?: Readonly<Record<string, unknown>>;
}
