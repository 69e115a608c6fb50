/** The question of a review to CertificateRequestPolicies (spec certificate-request-policy.md 7.3 and 7.4). */
import { sameValue } from "../../data/same-value.js";
import { aggregate } from "../../kubernetes/field-error.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import type { Failure, Outcome } from "../../policy/outcome.js";
import type { AdmissionQuestion, RawQuestion, Review } from "../../policy/review.js";
import type { CertificateRequest } from "./engine/certificate-request.js";
import { readCertificateRequest } from "./read-request.js";

/** The API group of requests. */
const GROUP = "cert-manager.io";
const VERSION = "v1";
const RESOURCE = "certificaterequests";

/** The purpose of the answer. */
export type Purpose =
  /** Whether the request may be made. */
  | "creation"
  /** Whether the request may be approved. */
  | "approval"
  /** The decision about the request. */
  | "decision";

/** A request to decide; or the outcome where there is none. */
export type Question =
  | {
      readonly kind: "request";
      readonly purpose: Purpose;
      readonly request: CertificateRequest;
      /** Labels in place of the Namespace's. */
      readonly namespaceLabels?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "answered"; readonly outcome: Outcome };

/** Reads the question. */
export function questionOf(review: Review): Question {
  if (review.kind === "raw") return rawQuestion(review);
  return review.targeted === true ? targetedQuestion(review) : admissionQuestion(review);
}

/** The members of a request that is sent together with other data. */
const WRAPPED = new Set(["certificateRequest", "namespace", "csrPem", "uid"]);

function rawQuestion({ payload }: RawQuestion): Question {
  if (!isObject(payload) || !("certificateRequest" in payload)) return requestQuestion(payload, "decision");
  const unknown = Object.keys(payload).find((key) => !WRAPPED.has(key));
  if (unknown !== undefined) return malformed(`there is no member ${JSON.stringify(unknown)}`);
  const { certificateRequest, namespace, csrPem } = payload;
  const asked = requestQuestion(certificateRequest, "decision");
  if (asked.kind === "answered") return asked;
  if (csrPem !== undefined && typeof csrPem !== "string") return malformed("csrPem: must be a string");
  const request = csrPem === undefined ? asked.request : { ...asked.request, request: Buffer.from(csrPem) };
  if (namespace === undefined) return { ...asked, request };
  const labels = member(namespace, "labels") ?? {};
  if (!isObject(namespace) || Object.keys(namespace).some((key) => key !== "labels") || !areTexts(labels))
    return malformed("namespace: must have labels, which are strings, and nothing else");
  return { ...asked, request, namespaceLabels: labels };
}

const areTexts = (labels: unknown): labels is Readonly<Record<string, string>> =>
  isObject(labels) && Object.values(labels).every((label) => typeof label === "string");

/** The question of a group about another value than the request's object: the same as about the object itself where a request is made or approved. */
function targetedQuestion({ request: review }: AdmissionQuestion): Question {
  const { resource, operation, subResource = "", object, namespace } = review;
  const ours = resource.group === GROUP && resource.resource === RESOURCE;
  if (ours && operation === "CREATE" && subResource === "") return creationQuestion(review);
  // The former state of the value is not known: any approval may be new.
  const approved = ours && subResource === "status" && isTrue(object, "Approved");
  return inNamespace(requestQuestion(object, approved ? "approval" : "decision"), namespace);
}

function admissionQuestion({ request: review }: AdmissionQuestion): Question {
  const { resource, operation, subResource = "" } = review;
  if (resource.group !== GROUP || resource.resource !== RESOURCE)
    return skip(`${resource.resource} are not CertificateRequests`);
  if (resource.version !== VERSION)
    return failed(`CertificateRequests of version ${JSON.stringify(resource.version)} are not known here`);
  switch (operation) {
    case "DELETE":
    case "CONNECT":
      return skip("only requests that are made or approved are decided");
    case "CREATE":
      return subResource === "" ? creationQuestion(review) : skip("the subresource is not a request");
    case "UPDATE":
      return subResource === "status" ? approvalQuestion(review) : changeQuestion(review);
    default:
      return failed("the request's operation is none of CREATE, UPDATE, DELETE and CONNECT");
  }
}

/** The question about a new request, whose requester must match the sender: cert-manager fills it in, and policies rely on it. */
function creationQuestion({ object, namespace, userInfo }: AdmissionQuestion["request"]): Question {
  const asked = inNamespace(requestQuestion(object, "creation"), namespace);
  if (asked.kind === "answered") return asked;
  const { username = "", uid = "", groups = [], extra = {} } = userInfo;
  const requester: Identity = { username, uid, groups, extra };
  // cert-manager's own webhook runs later, or is not installed.
  if (differing(asked.request, NOBODY).length === 0) return { ...asked, request: { ...asked.request, ...requester } };
  return refusalOf(differing(asked.request, requester), "must be that of the requester") ?? asked;
}

/** The requester as the request names it. */
type Identity = Pick<CertificateRequest, "username" | "uid" | "groups" | "extra">;

const NOBODY: Identity = { username: "", uid: "", groups: [], extra: {} };

/** The fields in which two identities differ, in cert-manager's order. */
const differing = (a: Identity, b: Identity): readonly string[] => [
  ...(a.uid === b.uid ? [] : ["uid"]),
  ...(a.username === b.username ? [] : ["username"]),
  ...(sameTexts(a.groups, b.groups) ? [] : ["groups"]),
  ...(sameExtra(a.extra, b.extra) ? [] : ["extra"]),
];

/** The denial of a requester who claims another identity, in cert-manager's words; `undefined` where no field is wrong. */
function refusalOf(fields: readonly string[], rule: string): Question | undefined {
  if (fields.length === 0) return undefined;
  const message = aggregate(fields.map((field) => `spec.${field}: Forbidden: ${field} identity ${rule}`));
  return { kind: "answered", outcome: { verdict: "deny", message, code: 403, reason: "Forbidden" } };
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  const sorted = [...b].sort();
  return [...a].sort().every((each, i) => each === sorted[i]);
}

function sameExtra(
  a: Readonly<Record<string, readonly string[]>>,
  b: Readonly<Record<string, readonly string[]>>,
): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameTexts(a[key] ?? [], b[key] ?? []))
  );
}

/** The question about a status: only an approval counts that is new. */
function approvalQuestion({ object, oldObject, namespace }: AdmissionQuestion["request"]): Question {
  if (!isTrue(object, "Approved") || isTrue(oldObject, "Approved")) return skip("no request is approved by this");
  return inNamespace(requestQuestion(object, "approval"), namespace);
}

/** The question about a changed request. cert-manager refuses all changes; where it is not installed, a changed request counts as a new one. */
function changeQuestion(review: AdmissionQuestion["request"]): Question {
  const { object, oldObject, namespace } = review;
  if (sameSpec(object, oldObject)) return skip("what is requested does not change");
  const before = requestQuestion(oldObject, "creation");
  // A former state that cannot be read does not say who made the request.
  if (before.kind === "answered") return creationQuestion(review);
  const asked = inNamespace(requestQuestion(object, "creation"), namespace);
  if (asked.kind === "answered") return asked;
  return refusalOf(differing(before.request, asked.request), "cannot be changed once set") ?? asked;
}

const sameSpec = (object: unknown, oldObject: unknown): boolean =>
  isObject(oldObject) && sameValue(member(object, "spec"), member(oldObject, "spec"));

function isTrue(object: unknown, type: string): boolean {
  const conditions = member(member(object, "status"), "conditions");
  return (
    Array.isArray(conditions) &&
    conditions.some((each) => text(each, "type") === type && text(each, "status") === "True")
  );
}

/** The question, about a request in the review's namespace. */
function inNamespace(asked: Question, namespace: string | undefined): Question {
  if (asked.kind === "answered" || namespace === undefined || namespace === "") return asked;
  return { ...asked, request: { ...asked.request, namespace } };
}

function requestQuestion(value: unknown, purpose: Purpose): Question {
  const read = readCertificateRequest(value);
  return read.kind === "malformed" ? malformed(read.text) : { kind: "request", purpose, request: read.request };
}

const skip = (reason: string): Question => ({ kind: "answered", outcome: { verdict: "skip", reason } });

const failed = (message: string, code?: Pick<Failure, "code" | "reason">): Question => ({
  kind: "answered",
  outcome: { verdict: "error", message, cause: "protocol", ...code },
});

const malformed = (message: string): Question => failed(message, { code: 400, reason: "BadRequest" });
