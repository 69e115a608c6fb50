/** Recognises documents with requests. */
import { rawQuestion } from "../../admission/decode.js";
import { parseJson } from "../../data/json.js";
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import { RECORD_MARK } from "../../telemetry/recording/index.js";
import { admissionFound, readAuditEvent } from "./audit-event.js";
import type { Answer, Found, Recorded } from "./question.js";

const NOTHING_KNOWN = "neither a recorded request, an AdmissionReview nor an event of the API server's audit log";
const DECISION_RECORD =
  "a decision record of the log: it holds no object, so that no policy can be asked again; record with serve --record";

/** Longest id of a policy: the server refuses a path with a longer one. */
const LONGEST_ID = 1000;

/** The requests of a document; lists of them are opened. */
export function* requestsIn(document: unknown, place: string): Iterable<Found> {
  if (Array.isArray(document)) {
    for (const [index, item] of document.entries()) yield* requestsIn(item, `${place}[${index}]`);
    return;
  }
  if (!isObject(document)) {
    yield { kind: "unreadable", place, why: NOTHING_KNOWN };
    return;
  }
  const { items, kind } = document;
  if (Array.isArray(items) && typeof kind === "string" && kind.endsWith("List"))
    yield* requestsIn(items, `${place}.items`);
  else if (kind === "Event" && text(document, "apiVersion").startsWith("audit.k8s.io/"))
    yield* readAuditEvent(document, place);
  else yield requestOf(document, place);
}

function requestOf(document: JsonObject, place: string): Found {
  const unreadable = (why: string): Found => ({ kind: "unreadable", place, why });
  const { record, kind, request } = document;
  if (typeof record === "string") {
    if (record === RECORD_MARK) return recordedRequest(document, place);
    return unreadable(`a record of version "${record.slice(0, 40)}", this program reads ${RECORD_MARK}`);
  }
  const fields = isObject(document.fields) ? document.fields : document;
  if (fields.policy_id !== undefined && fields.request_uid !== undefined) return unreadable(DECISION_RECORD);
  if (isObject(request)) return admissionReview(document, request, place);
  const bare = isObject(kind) && document.uid !== undefined && document.operation !== undefined;
  return bare ? admissionReview({}, document, place) : unreadable(NOTHING_KNOWN);
}

function admissionReview({ response }: JsonObject, request: JsonObject, place: string): Found {
  const former = isAnswer(response) ? answerOfResponse(response) : undefined;
  return admissionFound(request, { place, origin: "validate", recorded: [], former, redacted: false, doubts: [] });
}

function recordedRequest(line: JsonObject, place: string): Found {
  const { request, response, members, redacted, origin } = line;
  const policy = text(line, "policy");
  // A response without a valid verdict is ignored.
  if (policy === "" || policy.length > LONGEST_ID || !isAnswer(response)) {
    return { kind: "unreadable", place, why: "a recorded request without its policy or its response" };
  }
  const one: Recorded = { policy, answer: recordedAnswer(response, line.outcome) };
  const several = Array.isArray(members)
    ? members.filter(isAnswer).map((each) => ({
        policy: text(each, "policy").slice(0, LONGEST_ID),
        answer: recordedAnswer(each, each.outcome),
      }))
    : [one];
  const rest = {
    place,
    time: text(line, "time"),
    recorded: several,
    redacted: Array.isArray(redacted) && redacted.length > 0,
    doubts: [],
  };
  if (origin !== "validate_raw")
    return admissionFound(request, { ...rest, origin: origin === "audit" ? "audit" : "validate" });
  return { kind: "question", question: { ...rest, origin, review: rawQuestion(line.payload) } };
}

const isAnswer = (value: unknown): value is JsonObject => isObject(value) && typeof value.allowed === "boolean";

function recordedAnswer(answer: JsonObject, outcome: unknown): Answer {
  const { allowed, message, warnings, patch } = answer;
  return {
    allowed: allowed === true,
    ...(typeof message === "string" && { message }),
    ...(Array.isArray(warnings) && { warnings: warnings.map(String) }),
    ...(patch !== undefined && { patch }),
    ...(outcome === "error" && { failed: true }),
  };
}

/** The answer in a response. */
export function answerOfResponse(response: JsonObject): Answer {
  const { allowed, status, warnings, patch } = response;
  const message = member(status, "message");
  return {
    allowed: allowed === true,
    ...(typeof message === "string" && { message }),
    ...(Array.isArray(warnings) && { warnings: warnings.map(String) }),
    ...(typeof patch === "string" && { patch: decodedPatch(patch) }),
  };
}

/** The operations of a patch in base64; the text itself where it is not a patch. */
export function decodedPatch(base64: string): unknown {
  try {
    return parseJson(Buffer.from(base64, "base64").toString());
  } catch {
    return base64;
  }
}
