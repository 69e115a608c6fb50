/** An admission request from a file. */
import { decodeAdmissionReview } from "../../admission/decode.js";
import { stringifyJson } from "../../data/json.js";
import type { Found, Question } from "./question.js";

/** Parses a request in its wire format, or returns the reason why it is invalid. */
export function admissionFound(request: unknown, rest: Omit<Question, "review">): Found {
  const review = decodeAdmissionReview(Buffer.from(stringifyJson({ request })));
  if (review.kind === "problem") return { kind: "unreadable", place: rest.place, why: review.text };
  return { kind: "question", question: { review, ...rest } };
}
