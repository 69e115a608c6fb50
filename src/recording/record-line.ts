/** An answered request as a line of JSON. */
import type { AdmissionResponse } from "../admission/admission-response.js";
import { parseJson, stringifyJson } from "../data/json.js";
import type { JoinedVerdict } from "../evaluation/joined-verdict.js";
import type { RequestOrigin, Verdict } from "../evaluation/verdict.js";
import type { Review } from "../policy/review.js";
import type { Credentials } from "./credentials.js";
import { RECORD_MARK, type RecordedAnswer, type RecordedRequest } from "./recorded-request.js";
import { Redaction } from "./redaction.js";

/** A request and what was answered. */
export interface AnsweredReview {
  readonly review: Review;
  readonly origin: RequestOrigin;
  readonly verdict: Verdict | JoinedVerdict;
  /** The id in the path of the request. */
  readonly policy: string;
  /** Of the policies that answered. */
  readonly generation: number;
  /** Of the request's body. */
  readonly bytes: number;
}

/**
 * The line, redacted.
 * @param time milliseconds since 1970
 */
export function recordLine(answered: AnsweredReview, time: number, credentials: Credentials): string {
  const { review, origin, verdict, policy, generation } = answered;
  const redaction = new Redaction(credentials);
  const question = questionOf(review, redaction);
  const isSecret = review.kind === "admission" && isSecretKind(review.request.kind);
  const answer = (response: AdmissionResponse): RecordedAnswer => answerOf(response, isSecret, redaction);
  const line: RecordedRequest = {
    record: RECORD_MARK,
    time: new Date(time).toISOString(),
    policy,
    origin,
    generation,
    ...question,
    response: answer(verdict.response),
    outcome: outcomeOf(verdict),
    milliseconds: rounded(verdict.milliseconds),
    ...("members" in verdict && {
      members: verdict.members.map(({ entry, outcome, response, milliseconds }) => ({
        policy: entry.id,
        ...answer(response),
        outcome: outcome.verdict,
        milliseconds: rounded(milliseconds),
      })),
    }),
    ...(redaction.places.length > 0 && { redacted: redaction.places }),
    ...(redaction.more > 0 && { redactedMore: redaction.more }),
  };
  return stringifyJson(line, redaction.plain);
}

function questionOf(review: Review, redaction: Redaction): Pick<RecordedRequest, "request" | "payload"> {
  if (review.kind === "raw") return { payload: redaction.member(["payload"], review.payload) };
  const { userInfo, ...request } = review.request;
  const shown = redaction.member(["request"], request) as object;
  return { request: { ...shown, userInfo: redaction.userInfo(["request", "userInfo"], userInfo) } };
}

const isSecretKind = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
  group === "" && kind === "Secret";

/** Of a Secret nothing is told that a policy said: it may quote what it saw. */
function answerOf(
  { allowed, status, warnings, patch }: AdmissionResponse,
  isSecret: boolean,
  redaction: Redaction,
): RecordedAnswer {
  const words = (path: readonly (string | number)[], text: string): string =>
    isSecret && text !== "" ? redaction.whole(path) : redaction.words(path, text);
  return {
    allowed,
    ...(status?.code !== undefined && { code: status.code }),
    ...(status?.message !== undefined && { message: words(["response", "message"], status.message) }),
    ...(warnings !== undefined && {
      warnings: warnings.map((warning, index) => words(["response", "warnings", index], warning)),
    }),
    ...(patch !== undefined && {
      patch: isSecret ? redaction.whole(["response", "patch"]) : redaction.patch(["response", "patch"], patchOf(patch)),
    }),
  };
}

/** What a guest calls a patch may be anything. */
function patchOf(base64: string): unknown {
  try {
    return parseJson(Buffer.from(base64, "base64").toString());
  } catch {
    return base64;
  }
}

function outcomeOf(verdict: Verdict | JoinedVerdict): string {
  if (!("members" in verdict)) return verdict.outcome.verdict;
  const decisive = verdict.members.find(({ response }) => !response.allowed) ?? verdict.members[0];
  return decisive?.outcome.verdict ?? "skip";
}

/** Microseconds are fine enough. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;
