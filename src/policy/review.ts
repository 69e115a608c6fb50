/**
 * The question put to a policy: an AdmissionRequest or any JSON value. One Review is made per HTTP request and shared by every policy
 * and group member that looks at it, so what is derived from it (the bytes for guests) is made once.
 */
import type { AdmissionRequest } from "../admission/admission-request.js";

/** A question about a Kubernetes object, or about any JSON. */
export type Review = AdmissionQuestion | RawQuestion;

/** `/validate`: a Kubernetes admission request. */
export interface AdmissionQuestion {
  readonly kind: "admission";
  readonly request: AdmissionRequest;
  /**
   * The request as guests get it (spec kubewarden.md 3.2), JSON in UTF-8: known fields only, absent ones left out. Made at first use, must not be
   * changed.
   */
  readonly requestBytes: () => Uint8Array;
  /** The same bytes in pieces, where they are in pieces, for readers that copy them anyway. */
  readonly requestPieces?: () => readonly Uint8Array[];
  /** True when the texts of its objects begin with the kind of `request.kind`, as the API server writes them; otherwise they have to be parsed to know. */
  readonly saysKind?: () => boolean;
  /** True when a group evaluates another value than the request's object: resource rules and selectors are not consulted. */
  readonly targeted?: boolean;
}

/** `/validate_raw`: any JSON value. */
export interface RawQuestion {
  readonly kind: "raw";
  readonly payload: unknown;
  readonly requestBytes: () => Uint8Array;
  readonly requestPieces?: () => readonly Uint8Array[];
  readonly targeted?: boolean;
}
