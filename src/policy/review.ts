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
  /** The request as guests get it (spec kubewarden.md 3.2), JSON in UTF-8: known fields only, absent ones left out. Made at first use, and not to be changed. */
  readonly requestBytes: () => Uint8Array;
  /** The same in pieces, where it is in pieces: for who copies it anyway. */
  readonly requestPieces?: () => readonly Uint8Array[];
  /** True when the texts of its objects begin with what `request.kind` says, as the API server writes them; else they have to be read to know. */
  readonly saysKind?: () => boolean;
  /** True when a group asks about another value than the request's object: resource rules and selectors are not consulted. */
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
