/** A request to admission as it is found in a file. */
import { decodeAdmissionReview } from "../../admission/decode.js";
import { stringifyJson } from "../../data/json.js";
import type { Found, Question } from "./question.js";

/** A request in the shape of the wire, or why it is none. */
export function admissionFound(request: unknown, rest: Omit<Question, "review">): Found {
  const review = decodeAdmissionReview(Buffer.from(stringifyJson({ request })));
  if (review.kind === "problem") return { kind: "unreadable", place: rest.place, why: review.text };
  return { kind: "question", question: { review, ...rest } };
}
