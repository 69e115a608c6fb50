/** A request to be evaluated again, from any format. */

import type { Review } from "../../policy/index.js";
import type { RequestOrigin } from "../../policy/served/verdict.js";

/** The compared parts of an answer. */
export interface Answer {
  readonly allowed: boolean;
  readonly message?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** Operations of the JSON Patch. */
  readonly patch?: unknown;
  /** Whether the policy could not decide. */
  readonly failed?: boolean;
  /** Whether it is the API server's final answer, not a policy's own: only `allowed` is known. */
  readonly ofServer?: boolean;
}

/** The recorded answer of one policy. */
export interface Recorded {
  readonly policy: string;
  readonly answer: Answer | undefined;
}

/** One request. */
export interface Question {
  /** `file:line`, or `file` and the number of the document. */
  readonly place: string;
  readonly review: Review;
  readonly origin: RequestOrigin;
  readonly time?: string | undefined;
  /** The policies that were asked; empty if the format lacks them. */
  readonly recorded: readonly Recorded[];
  /** The known answer where no policy is named. */
  readonly former?: Answer | undefined;
  /** Whether parts of it were redacted: answers may differ for that alone. */
  readonly redacted: boolean;
  /** Other parts that differ from the original request. */
  readonly doubts: readonly string[];
}

/** The result of reading a document. */
export type Found =
  | { readonly kind: "question"; readonly question: Question }
  /** A valid document without a request for policies. */
  | { readonly kind: "skipped"; readonly why: string }
  | { readonly kind: "unreadable"; readonly place: string; readonly why: string };
