/** What becomes of a CertificateRequest (spec certificate-request-policy.md 0.2 and 3.5). */
import type { KeyedPath } from "../../../kubernetes/field-error.js";
import type { Failure } from "../../../policy/outcome.js";

/** One objection of a policy. */
export interface Objection {
  readonly evaluator: "allowed" | "constraints";
  /** Where the policy says what it objects by; empty where nothing in particular does. */
  readonly path: KeyedPath;
  /** The whole text, path included. */
  readonly text: string;
}

/** How far one policy came with a request. Diagnostic: no decision depends on it. */
export interface PolicyAccount {
  readonly name: string;
  /** Issuer and namespace match. */
  readonly selected: boolean;
  /** The requester may use it; `undefined` where nobody asked. */
  readonly bound: boolean | undefined;
  /** `undefined` where there is no condition yet. */
  readonly ready: boolean | undefined;
  /** Whether it was evaluated: behind one that approves nobody looks. */
  readonly evaluated: boolean;
  /** What it says against the request, in order, without repetitions. */
  readonly objections: readonly Objection[];
}

/** The decision of a set of policies. */
export type Decision = { readonly policies: readonly PolicyAccount[] } & (
  | { readonly result: "Approved"; readonly message: string; readonly by: string }
  | { readonly result: "Denied" | "Unprocessed"; readonly message: string }
  /** It could not be told: `cause` is for the log, since it may reveal how policies are set up. */
  | { readonly result: "Error"; readonly cause: string; readonly failure?: Failure }
);
