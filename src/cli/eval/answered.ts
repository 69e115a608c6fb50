/** One answer of `eval`, with its details. */
import { encodeAdmissionReview, encodeRawReview } from "../../admission/encode.js";
import { EXIT } from "../../data/exit-codes.js";
import { parsePlainJson } from "../../data/json.js";
import type { ExplainedAnswer } from "../../kinds/explanation/index.js";
import type { Review } from "../../policy/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { Verdict } from "../../policy/served/verdict.js";
import type { Question } from "./question.js";

/** The answer of one policy to one question. */
export interface Answered {
  readonly entry: ServedPolicy;
  readonly question: Question;
  readonly verdict: Verdict;
  /** Details that the server would log: reasons of failed look-ups, with addresses and files. */
  readonly details: readonly string[];
  /** The explanation, if requested. */
  readonly explained?: ExplainedAnswer;
}

/** The exit code of an answer: the worst of all is the command's. */
export function exitCodeOf({ response, outcome }: Verdict): number {
  if (response.allowed) return EXIT.FINE;
  return outcome.verdict === "error" ? EXIT.NOT_ASKED : EXIT.NO;
}

/** Most findings that are shown of one answer. */
const MAX_FOUND = 20;

/** The findings of Audit and Warn as lines `Audit: member: policy: message`, without those that the answer's warnings say already. */
export function foundLines({ verdict: { outcome } }: Answered): readonly string[] {
  const { found = [], warnings = [] } = outcome;
  const news = found.filter(
    ({ action, message }) => action === "Audit" || !warnings.some((warning) => warning.includes(message)),
  );
  const left = news.length - MAX_FOUND;
  const lines = news.slice(0, MAX_FOUND).map(({ action, message, policy, binding, member }) => {
    // A policy without a name of its own is called so.
    const by = policy === "inline" ? "" : `${policy ?? ""}${binding ? ` with binding '${binding}'` : ""}`;
    return [action, member, by, message].filter((part) => part).join(": ");
  });
  return left > 0 ? [...lines, `… and ${left} more`] : lines;
}

/** The response that a server's client would get, as JSON. */
export function responseOf({ question: { review }, verdict }: Pick<Answered, "question" | "verdict">): object {
  const answer = (review.kind === "raw" ? encodeRawReview : encodeAdmissionReview)(verdict.response);
  return parsePlainJson(answer) as object;
}

/** The name of a review's object: `Deployment shop/web`, or `""` without a name. */
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

/** The reason of an answer; empty for a policy whose load error was already printed. */
export function whyText({ entry, verdict: { outcome, response } }: Answered): string {
  if (entry.policy.kind === "unavailable") return "it could not be loaded, as is said above";
  return outcome.verdict === "skip" ? outcome.reason : (response.status?.message ?? "");
}
