/** Responses to JSON text, members in the order of spec kubewarden.md 3.3. */
import { stringifyJson } from "../data/json.js";
import { diff } from "../data/json-patch.js";
import type { AdmissionResponse, ResponseStatus, StatusCause, StatusDetails } from "./admission-response.js";
import type { ReviewVersion } from "./decode.js";
import type { RequestProblem } from "./request-problem.js";

/** The beginning of an answer, by the version of the review. */
const REVIEW_HEADS: Readonly<Record<ReviewVersion, string>> = {
  "admission.k8s.io/v1": '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":',
  "admission.k8s.io/v1beta1": '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":',
};

/**
 * The answer to an AdmissionReview. Policies' answers are always v1: the fields are those of v1beta1 too, and the reference server does the same.
 * @param version the version of the answer, where it has to be that of the review
 */
export function encodeAdmissionReview(
  response: AdmissionResponse,
  version: ReviewVersion = "admission.k8s.io/v1",
): string {
  return `${REVIEW_HEADS[version]}${encodeResponse(response)}}`;
}

/** The members that every answer may have: a policy's own members can't replace them. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  "uid",
  "allowed",
  "patchType",
  "patch",
  "status",
  "auditAnnotations",
  "warnings",
]);

/** The answer to a raw review, with the policy's own account behind the members that every answer has. */
export function encodeRawReview(response: AdmissionResponse): string {
  const text = encodeResponse(response);
  if (response.account === undefined) return `{"response":${text}}`;
  const told = Object.entries(response.account).filter(
    ([key, value]) => value !== undefined && !KNOWN_MEMBERS.has(key),
  );
  const members = told.map(([key, value]) => `,${JSON.stringify(key)}:${stringifyJson(value)}`);
  return `{"response":${text.slice(0, -1)}${members.join("")}}}`;
}

/** The bare response, as command lines print it. */
export function encodeResponse(response: AdmissionResponse): string {
  let text = `{"uid":${JSON.stringify(response.uid)},"allowed":${response.allowed}`;
  // Base64 needs no escaping. A denial changes nothing, so it carries no patch.
  if (response.allowed && response.patch !== undefined) text += `,"patchType":"JSONPatch","patch":"${response.patch}"`;
  if (response.status !== undefined) text += `,"status":${encodeStatus(response.status)}`;
  text += `,"auditAnnotations":${encodeOrNull(response.auditAnnotations)}`;
  return `${text},"warnings":${encodeOrNull(response.warnings)}}`;
}

/** A request error in its JSON form. */
export function encodeProblem({ text, status }: RequestProblem): string {
  return JSON.stringify({ message: text, status });
}

/**
 * The JSON Patch from one object to another in base64; undefined when nothing differs.
 * @param before the object of the request
 * @param after the changed object
 */
export function encodePatch(before: unknown, after: unknown): string | undefined {
  const operations = diff(before, after);
  return operations.length === 0 ? undefined : Buffer.from(stringifyJson(operations)).toString("base64");
}

function encodeOrNull(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}

function encodeStatus(from: ResponseStatus): string {
  const { status, message, reason, details, code, ...rest } = from;
  return stringifyJson({
    status,
    message,
    reason,
    details: details === undefined ? undefined : orderDetails(details),
    code,
    ...rest,
  });
}

function orderDetails(from: StatusDetails): StatusDetails {
  const { name, group, kind, uid, causes, ...rest } = from;
  const known = { name, group, kind, uid };
  return causes === undefined || causes.length === 0
    ? { ...known, ...rest }
    : { ...known, causes: causes.map(orderCause), ...rest };
}

function orderCause({ reason, message, field }: StatusCause): StatusCause {
  return { reason, message, field };
}
