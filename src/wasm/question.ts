/** What a guest was asked, as far as one must know it to read its answer; and who reads it. */
import type { Outcome } from "../policy/outcome.js";
import type { Review } from "../policy/review.js";
import type { GuestLimits } from "./limits.js";

/** A question about a review. */
export interface Question {
  readonly review: Review["kind"];
  /** The payload as the guest got it, JSON in UTF-8. */
  readonly input: Uint8Array;
  readonly limits: GuestLimits;
}

/**
 * Reads a guest's answer to a review, in the guest's thread: what is in it may be large, and the main thread serves all requests.
 * @param text the answer
 * @throws GuestLimitError when what it comes to is too large
 */
export type ReadAnswer = (text: string, question: Question) => Outcome;
