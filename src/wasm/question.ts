/** A question to a guest, as its answer's reader needs it. */
import type { Outcome } from "../policy/outcome.js";
import type { Review } from "../policy/review.js";
import type { GuestLimits } from "./limits.js";

/** A question about a review. */
export interface Question {
  readonly review: Review["kind"];
  /** The guest's payload, JSON in UTF-8. */
  readonly input: Uint8Array;
  readonly limits: GuestLimits;
}

/**
 * Parses a guest's answer to a review, in the guest's thread: it may be large, and the main thread serves all requests.
 * @param text the answer
 * @throws GuestLimitError when the outcome is too large
 */
export type ReadAnswer = (text: string, question: Question) => Outcome;
