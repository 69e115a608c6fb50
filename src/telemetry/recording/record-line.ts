/** An answered request as a line of JSON. */
import type { AdmissionResponse } from "../../admission/admission-response.js";
import { parseJson, stringifyJson } from "../../data/json.js";
import type { Review } from "../../policy/review.js";
import type { JoinedVerdict } from "../../policy/served/joined-verdict.js";
import type { RequestOrigin, Verdict } from "../../policy/served/verdict.js";
import type { Credentials } from "./credentials.js";
import { RECORD_MARK, type RecordedAnswer, type RecordedRequest } from "./recorded-request.js";
import { Redaction } from "./redaction.js";

/** A request and its answer. */
export interface AnsweredReview {
  readonly review: Review;
  readonly origin: RequestOrigin;
  readonly verdict: Verdict | JoinedVerdict;
  /** The id in the path of the request. */
  readonly policy: string;
  /** The generation of the policies that answered. */
  readonly generation: number;
  /** Bytes of the request's body. */
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
  const object = review.kind === "raw" ? review.payload : review.request.object;
  const answer = (response: AdmissionResponse, ...path: (string | number)[]): RecordedAnswer =>
    answerOf(response, { path, object, redaction });
  const line: RecordedRequest = {
    record: RECORD_MARK,
    time: new Date(time).toISOString(),
    policy,
    origin,
    generation,
    ...question,
    response: answer(verdict.response, "response"),
    outcome: outcomeOf(verdict),
    milliseconds: rounded(verdict.milliseconds),
    ...("members" in verdict && {
      members: verdict.members.map(({ entry, outcome, response, milliseconds }, index) => ({
        policy: entry.id,
        ...answer(response, "members", index),
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
  const { userInfo, object, oldObject, ...request } = review.request;
  const isSecret = isSecretKind(request.kind);
  const shown = redaction.member(["request"], request) as object;
  const objects = Object.entries({ object, oldObject }).filter(([, value]) => value !== undefined);
  return {
    request: {
      ...shown,
      ...Object.fromEntries(
        objects.map(([key, value]) => [key, redaction.member(["request", key], value, isSecret)] as const),
      ),
      userInfo: redaction.userInfo(["request", "userInfo"], userInfo),
    },
  };
}

const isSecretKind = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
  group === "" && kind === "Secret";

interface Answering {
  /** The path of the answer in the line. */
  readonly path: readonly (string | number)[];
  /** The object of the request. */
  readonly object: unknown;
  readonly redaction: Redaction;
}

/** The answer in the line. For a Secret, policies' words are left out: they may quote it. */
function answerOf(
  { allowed, status, warnings, patch }: AdmissionResponse,
  { path, object, redaction }: Answering,
): RecordedAnswer {
  const isSecret = redaction.sawSecret;
  const words = (inside: readonly (string | number)[], text: string): string =>
    isSecret && text !== "" ? redaction.whole([...path, ...inside]) : redaction.words([...path, ...inside], text);
  return {
    allowed,
    ...(status?.code !== undefined && { code: status.code }),
    ...(status?.message !== undefined && { message: words(["message"], status.message) }),
    ...(warnings !== undefined && { warnings: warnings.map((warning, index) => words(["warnings", index], warning)) }),
    ...(patch !== undefined && {
      patch: isSecret
        ? redaction.whole([...path, "patch"])
        : redaction.patch([...path, "patch"], patchOf(patch), object),
    }),
  };
}

/** The operations of a patch; a guest may send any text as one. */
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

/** A time rounded to microseconds. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;
