/** What becomes of a CertificateRequest (spec certificate-request-policy.md 0.2 and 3.5). */
import type { Failure } from "../../../policy/outcome.js";

/** The parts of a policy that object, in their order. */
export type EvaluatorName = "allowed" | "constraints";

/** One objection of a policy. */
export interface Objection {
  /** Where the policy says what it objects by, such as `spec.allowed.dnsNames.values`; empty where no one field does. */
  readonly path: string;
  /** The whole text, path included. */
  readonly text: string;
}

/** What one policy says against a request. */
export type Objections = Readonly<Record<EvaluatorName, readonly Objection[]>>;

/** How far one policy came with a request. Diagnostic: no decision depends on it. */
export interface PolicyAccount {
  readonly name: string;
  /** Issuer and namespace match. */
  readonly selected: boolean;
  /** The requester may use it; `undefined` where it was not asked. */
  readonly bound: boolean | undefined;
  /** `undefined` where there is no condition yet. */
  readonly ready: boolean | undefined;
  /** In order, without repetitions; `undefined` where it was not evaluated: policies behind one that approves are not evaluated. */
  readonly objections: Objections | undefined;
}

/** What a set of policies comes to. */
export type Answer =
  | { readonly result: "Approved"; readonly message: string; readonly by: string }
  | { readonly result: "Denied" | "Unprocessed"; readonly message: string }
  | UndecidedReview;

/** It could not be told. */
export interface UndecidedReview {
  readonly result: "Error";
  /** For the log: it may reveal how policies are set up. */
  readonly cause: string;
  /** What answers are to say instead of the usual sentence: time was up, or a limit was reached. */
  readonly failure?: Failure;
}

/** The decision of a set of policies. */
export type Decision = Answer & {
  /** Of every policy, by name. */
  readonly accounts: () => readonly PolicyAccount[];
};
