/** Turns a guest's answer into a result. */
import { isUtf8 } from "node:buffer";
import { mostAnswerBytes } from "../../limits.js";
import type { Question, ReadAnswer } from "../../question.js";
import type { GuestOperation, RunResult } from "./call.js";
import { type GuestAnswer, GuestLimitError } from "./guest.js";

/** The kind of review of an operation; undefined for operations at load. */
const REVIEWS: Readonly<Partial<Record<GuestOperation, Question["review"]>>> = {
  validate: "admission",
  "validate-raw": "raw",
};

/**
 * The answer to a review as an outcome, any other answer unchanged.
 * @param answerBytes most bytes of the answer, beside the limits
 * @throws GuestLimitError when it is too large
 */
export function readAnswer(
  answer: GuestAnswer,
  operation: GuestOperation,
  { input, limits }: Omit<Question, "review">,
  read: ReadAnswer,
  answerBytes = Number.POSITIVE_INFINITY,
): RunResult {
  if (answer.kind !== "answer") return answer;
  const { buffer, byteOffset, length } = answer.bytes;
  const most = Math.min(mostAnswerBytes(limits, input.length), answerBytes);
  if (length > most)
    throw new GuestLimitError(`the policy's answer is longer than ${most} bytes, to a question of ${input.length}`);
  // JSON is UTF-8: an answer with other bytes must not allow anything, whatever a lenient decoder makes of it.
  if (!isUtf8(answer.bytes)) return { kind: "trap", text: "the policy's answer is not UTF-8" };
  const text = Buffer.from(buffer, byteOffset, length).toString();
  const review = REVIEWS[operation];
  if (review === undefined) return { kind: "answer", text };
  return { kind: "outcome", outcome: read(text, { review, input, limits }) };
}
