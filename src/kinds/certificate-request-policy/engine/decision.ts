/** Decisions on a CertificateRequest (spec certificate-request-policy.md 0.2 and 3.5). */
import type { Failure } from "../../../policy/outcome.js";

/** The parts of a policy that object, in their order. */
export type EvaluatorName = "allowed" | "constraints";

/** One objection of a policy. */
export interface Objection {
  /** The field of the policy, such as `spec.allowed.dnsNames.values`; empty without a single field. */
  readonly path: string;
  /** The whole text, path included. */
  readonly text: string;
}

/** Objections of one policy to a request. */
export type Objections = Readonly<Record<EvaluatorName, readonly Objection[]>>;

/** The progress of one policy with a request. Diagnostic: no decision depends on it. */
export interface PolicyAccount {
  readonly name: string;
  /** Whether issuer and namespace match. */
  readonly selected: boolean;
  /** Whether the requester may use it; `undefined` if it was not checked. */
  readonly bound: boolean | undefined;
  /** Whether it is ready; `undefined` without a condition. */
  readonly ready: boolean | undefined;
  /** In order, without repetitions; `undefined` where it was not evaluated: policies after an approving one are not evaluated. */
  readonly objections: Objections | undefined;
}

/** The answer of a set of policies. */
export type Answer =
  | { readonly result: "Approved"; readonly message: string; readonly by: string }
  | { readonly result: "Denied" | "Unprocessed"; readonly message: string }
  | UndecidedReview;

/** A review without a decision. */
export interface UndecidedReview {
  readonly result: "Error";
  /** For the log: it may reveal how policies are set up. */
  readonly cause: string;
  /** The failure for answers instead of the usual one: a time-out, or a limit. */
  readonly failure?: Failure;
}

/** The decision of a set of policies. */
export type Decision = Answer & {
  /** Accounts of all policies, by name. */
  readonly accounts: () => readonly PolicyAccount[];
};
