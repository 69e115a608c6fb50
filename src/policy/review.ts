/**
 * The question put to a policy: an AdmissionRequest or any JSON value. One Review is made per HTTP request and shared by every policy
 * and group member that looks at it, so what is derived from it (the text for guests) is made once.
 */
import type { AdmissionRequest } from "../admission/admission-request.js";

/** A question about a Kubernetes object, or about any JSON. */
export type Review = AdmissionQuestion | RawQuestion;

/** `/validate`: a Kubernetes admission request. */
export interface AdmissionQuestion {
  readonly kind: "admission";
  readonly request: AdmissionRequest;
  /** The request re-serialised for guests (spec kubewarden.md 3.2): known fields only, absent ones left out. Made at first use. */
  readonly requestText: () => string;
  /** True when a group asks about another value than the request's object: resource rules and selectors are not consulted. */
  readonly targeted?: boolean;
}

/** `/validate_raw`: any JSON value. */
export interface RawQuestion {
  readonly kind: "raw";
  readonly payload: unknown;
  readonly requestText: () => string;
  readonly targeted?: boolean;
}
