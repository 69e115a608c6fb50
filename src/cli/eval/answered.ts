/** One answer of `eval`, with all that is shown of it. */
import { encodeAdmissionReview, encodeRawReview } from "../../admission/encode.js";
import { parsePlainJson } from "../../data/json.js";
import type { ExplainedAnswer } from "../../kinds/explanation/index.js";
import type { Review } from "../../policy/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { Verdict } from "../../policy/served/verdict.js";
import type { Question } from "./question.js";

/** What came of one question to one policy. */
export interface Answered {
  readonly entry: ServedPolicy;
  readonly question: Question;
  readonly verdict: Verdict;
  /** What the server would write to its log: why look-ups failed, with addresses and files. */
  readonly details: readonly string[];
  /** Where it was asked for. */
  readonly explained?: ExplainedAnswer;
}

/** Exit codes: the worst of all answers is the command's. */
export const EXIT_ALLOWED = 0;
export const EXIT_DENIED = 1;
export const EXIT_ERROR = 2;

/** What an answer means for whoever runs the command. */
export function exitCodeOf({ response, outcome }: Verdict): number {
  if (response.allowed) return EXIT_ALLOWED;
  return outcome.verdict === "error" ? EXIT_ERROR : EXIT_DENIED;
}

/** What the client of a server would get, as JSON. */
export function responseOf({ question: { review }, verdict }: Pick<Answered, "question" | "verdict">): object {
  const answer = (review.kind === "raw" ? encodeRawReview : encodeAdmissionReview)(verdict.response);
  return parsePlainJson(answer) as object;
}

/** What was asked about: `Deployment shop/web`, or `""` for what has no name. */
export function objectName(review: Review): string {
  if (review.kind === "raw") return "";
  const { kind, namespace, name } = review.request;
  const path = [namespace, name ?? generated(review.request.object)].filter((part) => (part ?? "") !== "").join("/");
  return [kind.kind, path].filter((part) => part !== "").join(" ");
}

function generated(object: unknown): string | undefined {
  const { metadata } = (object ?? {}) as { readonly metadata?: { readonly generateName?: unknown } };
  const name = metadata?.generateName;
  return typeof name === "string" ? `${name}…` : undefined;
}

/** Why it came to that; a policy that could not be loaded has said so when it was. */
export function whyText({ entry, verdict: { outcome, response } }: Answered): string {
  if (entry.policy.kind === "unavailable") return "it could not be loaded, as is said above";
  return outcome.verdict === "skip" ? outcome.reason : (response.status?.message ?? "");
}
