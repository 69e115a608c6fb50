/** Policies that say whether a request for a certificate is to be approved, besides answering reviews (spec certificate-request-policy.md 0.2). */
import type { EvaluationContext, Policy } from "./policy.js";

/** What becomes of a CertificateRequest. */
export type Ruling =
  /** For good; the message stands in the condition. */
  | { readonly result: "Approved" | "Denied"; readonly message: string }
  /** Nobody has decided: it is asked again when policies or rights change. */
  | { readonly result: "Unprocessed"; readonly message: string }
  /** It could not be told, and is asked again. The cause is for the log, since it may reveal how policies are set up. */
  | { readonly result: "Error"; readonly cause: string };

/** What an approver asks. */
export interface Approving {
  /** False for one that only warns of what it denies: a denial that is written into a cluster is for good. */
  readonly denies: boolean;
  /**
   * Decides over a request that is stored in a cluster.
   * @param certificateRequest a whole cert-manager.io/v1 CertificateRequest without a decision
   */
  review(certificateRequest: { readonly [key: string]: unknown }, context: EvaluationContext): Ruling | Promise<Ruling>;
}

/** Whether a policy can be asked for approvals. */
export const isApproving = (policy: Policy): policy is Policy & Approving =>
  "review" in policy && typeof policy.review === "function";
