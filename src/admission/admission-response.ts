/** The wire form of an AdmissionResponse (spec kubewarden.md 3.3). Absent members are left out by the encoder, or null where the wire has null. */

/** An entry of `status.details.causes`: always all three members on the wire. */
export interface StatusCause {
  readonly reason: string | null;
  readonly message: string | null;
  readonly field: string | null;
}

/** `status.details`: known members plus whatever a policy that returns a whole status put there. */
export interface StatusDetails {
  readonly causes?: readonly StatusCause[];
  readonly [member: string]: unknown;
}

/** `status`: the parts of a metav1.Status that are used, plus whatever a policy that returns a whole status put there. */
export interface ResponseStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
  readonly [member: string]: unknown;
}

/** What is answered about one request. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  /** A JSON Patch in base64 (standard alphabet, padded); its type is always JSONPatch. */
  readonly patch?: string;
  readonly status?: ResponseStatus;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
  /** Further members of a raw answer, as JSON; those above are none of them. An AdmissionReview has no place for them. */
  readonly account?: Readonly<Record<string, unknown>>;
}
