/** The payload of a question as a review. */
import { buildRequest, type Circumstances, ObjectError, readRequest } from "../../admission/build-request.js";
import { admissionQuestion, rawQuestion } from "../../admission/decode.js";
import { type Problem, parseResources } from "../../config/index.js";
import type { Review } from "../../policy/index.js";
import type { EvaluateQuestion } from "../api.js";

const NAME = "payload";

/**
 * The review, or what is wrong with the payload.
 * @param find the kinds that are not built in
 * @param doubt receives what had to be assumed
 */
export function reviewOf(
  { payload, raw = false, operation = "CREATE" }: EvaluateQuestion,
  find: Required<Circumstances>["find"],
  doubt: (problem: Problem) => void,
): Review | { readonly problem: Problem } {
  const { documents, problems } = parseResources(payload, NAME);
  const [mistake] = problems;
  if (mistake !== undefined) return { problem: mistake };
  const [document, second] = documents;
  if (second !== undefined) return { problem: second.problem("error", [], "one document is asked about at a time") };
  if (document === undefined) return { problem: problemOf("there is nothing: expected an object in YAML or JSON") };
  const { value } = document;
  if (raw) return rawQuestion(value);
  try {
    if (isReview(value)) return readRequest(value, "the review");
    if (!isObject(value)) return { problem: document.problem("error", [], NO_OBJECT) };
    // The API server has a former state of every updated object: where none is given, nothing has changed.
    const former = operation === "UPDATE" ? { oldObject: value } : {};
    const known = { find, doubt: (text: string) => doubt(document.problem("warning", ["kind"], text)) };
    return admissionQuestion(buildRequest({ object: value, operation, ...former, ...known }));
  } catch (error) {
    if (error instanceof ObjectError) return { problem: document.problem("error", error.path, error.reason) };
    return { problem: document.problem("error", [], error instanceof Error ? error.message : String(error)) };
  }
}

const problemOf = (message: string): Problem => ({
  severity: "error",
  file: NAME,
  line: 1,
  column: 1,
  path: [],
  message,
});

const NO_OBJECT =
  "this is not a Kubernetes object (it has no apiVersion and kind): ask about other values as raw payloads";

const isObject = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  "apiVersion" in value &&
  typeof value.apiVersion === "string" &&
  "kind" in value &&
  typeof value.kind === "string";

/** Whether a value is an AdmissionReview, or its request. */
function isReview(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ("request" in value && !("spec" in value)) || ("uid" in value && "userInfo" in value);
}
