/** Policies that say whether a request for a certificate is to be approved, besides answering reviews (spec certificate-request-policy.md 0.2). */
import type { EvaluationContext, Policy } from "./policy.js";

/** A policy's decision on a CertificateRequest. */
export type Ruling =
  /** Final; the condition has the message. */
  | { readonly result: "Approved" | "Denied"; readonly message: string }
  /** No policy has decided: the request is evaluated again when policies or rights change. */
  | { readonly result: "Unprocessed"; readonly message: string }
  /** No decision could be reached; the request is evaluated again. The cause is for the log, since it may reveal how policies are set up. */
  | { readonly result: "Error"; readonly cause: string };

/** A policy's interface for the approver. */
export interface Approving {
  /** False for a policy that only warns: a denial written into a cluster is final. */
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
