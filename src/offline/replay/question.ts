/** What is asked again: one request, of whatever form it was found in. */

import type { Review } from "../../policy/index.js";
import type { RequestOrigin } from "../../policy/served/verdict.js";

/** An answer, as far as it is compared. */
export interface Answer {
  readonly allowed: boolean;
  readonly message?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** Operations of the JSON Patch. */
  readonly patch?: unknown;
  /** Whether the policy could not decide. */
  readonly failed?: boolean;
  /** Whether it is what the API server did in the end, and no policy's own answer: nothing but `allowed` is known. */
  readonly ofServer?: boolean;
}

/** What one policy said, where that is known. */
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
  /** The policies that were asked; empty where the form does not say. */
  readonly recorded: readonly Recorded[];
  /** What is known of the answer where no policy is named. */
  readonly former?: Answer | undefined;
  /** Whether something was taken out of it: answers may differ for that alone. */
  readonly redacted: boolean;
  /** What else is not as it was. */
  readonly doubts: readonly string[];
}

/** What a document comes to. */
export type Found =
  | { readonly kind: "question"; readonly question: Question }
  /** In good order, and no request that policies are asked about. */
  | { readonly kind: "skipped"; readonly why: string }
  | { readonly kind: "unreadable"; readonly place: string; readonly why: string };
