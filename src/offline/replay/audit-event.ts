/**
 * Reconstructs an admission request from an event of the API server's audit log (audit.k8s.io/v1). The log has less than webhooks get: missing parts
 * are reported, or the event is left out.
 */

import { decodeAdmissionReview } from "../../admission/decode.js";
import { stringifyJson } from "../../data/json.js";
import { builtinKinds, pluralOf } from "../../kubernetes/builtin-kinds.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import type { Answer, Found, Question } from "./question.js";

/** Parses a request in its wire format, or returns the reason why it is invalid. */
export function admissionFound(request: unknown, rest: Omit<Question, "review">): Found {
  const review = decodeAdmissionReview(Buffer.from(stringifyJson({ request })));
  if (review.kind === "problem") return { kind: "unreadable", place: rest.place, why: review.text };
  return { kind: "question", question: { review, ...rest } };
}

/** Verbs with admission. `deletecollection` is one event and many requests. */
const OPERATIONS: Readonly<Record<string, string>> = {
  create: "CREATE",
  update: "UPDATE",
  patch: "UPDATE",
  delete: "DELETE",
};
const NO_OLD_OBJECT = "the old object is not known (audit logs do not hold it)";
const AS_SENT = "the object is as it was sent, without defaults and mutations (the event holds no response)";

/** The request of an event. */
export function readAuditEvent(event: JsonObject, place: string): Found {
  const verb = text(event, "verb");
  const reference = event.objectRef;
  const operation = Object.hasOwn(OPERATIONS, verb) ? OPERATIONS[verb] : undefined;
  if (operation === undefined || !isObject(reference)) return skipped("audit events that admission does not hear of");
  if (text(event, "stage") !== "ResponseComplete") return skipped("audit events of other stages than ResponseComplete");
  const level = text(event, "level");
  if (level !== "Request" && level !== "RequestResponse") {
    return skipped(`audit events of level ${level || "none"}, which hold no objects (Request and RequestResponse do)`);
  }
  const resource = {
    group: text(reference, "apiGroup"),
    version: text(reference, "apiVersion"),
    resource: text(reference, "resource"),
  };
  const made = objectsOf(event, operation, verb);
  if (typeof made === "string") return skipped(made);
  const kind = kindOf(made.object ?? made.oldObject, resource);
  if (kind === undefined) return skipped(`audit events about ${resource.resource}, whose kind they do not name`);
  const subResource = text(reference, "subresource");
  const name = text(reference, "name") || nameOf(made.object);
  const namespace = text(reference, "namespace");
  const about = { kind, resource, ...(subResource !== "" && { subResource }) };
  const request = {
    uid: text(event, "auditID"),
    ...about,
    requestKind: kind,
    requestResource: resource,
    ...(subResource !== "" && { requestSubResource: subResource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: isObject(event.impersonatedUser) ? event.impersonatedUser : (event.user ?? {}),
    ...(made.object !== undefined && { object: made.object }),
    ...(made.oldObject !== undefined && { oldObject: made.oldObject }),
    ...(made.options !== undefined && { options: made.options }),
    dryRun: /[?&]dryRun=All(?:&|$)/.test(text(event, "requestURI")),
  };
  return admissionFound(request, {
    place,
    origin: "validate",
    time: text(event, "stageTimestamp"),
    recorded: [],
    former: serverAnswer(event),
    redacted: false,
    doubts: made.doubts,
  });
}

const skipped = (why: string): Found => ({ kind: "skipped", why });

interface Objects {
  readonly object?: unknown;
  readonly oldObject?: unknown;
  readonly options?: unknown;
  readonly doubts: readonly string[];
}

/** The objects of the event, or the reason why they are not enough. */
function objectsOf(event: JsonObject, operation: string, verb: string): Objects | string {
  const { requestObject: sent } = event;
  const answered = isKubernetesObject(event.responseObject) ? event.responseObject : undefined;
  if (operation === "DELETE") {
    if (answered === undefined) return "audit events of deletions without the object";
    return { ...(isKubernetesObject(sent) && { options: sent }), oldObject: answered, doubts: [] };
  }
  const old = operation === "UPDATE" ? [NO_OLD_OBJECT] : [];
  // The response has the stored object: with defaults and mutations, as the last webhooks see it.
  const isSame = verb === "patch" || (isObject(sent) && isObject(answered) && sent.kind === answered.kind);
  if (answered !== undefined && isSame) return { object: answered, doubts: old };
  if (verb === "patch") return "audit events of patches without what came of them (level RequestResponse holds it)";
  if (!isKubernetesObject(sent)) return "audit events without an object";
  return { object: sent, doubts: [...old, AS_SENT] };
}

/** Whether a value is a Kubernetes object, and not the Status in many responses. */
const isKubernetesObject = (value: unknown): value is JsonObject =>
  isObject(value) && typeof value.kind === "string" && typeof value.apiVersion === "string" && value.kind !== "Status";

interface Resource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

function kindOf(object: unknown, { group, version, resource }: Resource) {
  if (isObject(object)) {
    const apiVersion = text(object, "apiVersion");
    const slash = apiVersion.indexOf("/");
    return {
      group: slash < 0 ? "" : apiVersion.slice(0, slash),
      version: apiVersion.slice(slash + 1),
      kind: text(object, "kind"),
    };
  }
  const apiVersion = group === "" ? version : `${group}/${version}`;
  for (const builtin of builtinKinds()) {
    if (builtin.apiVersion === apiVersion && pluralOf(builtin.kind) === resource)
      return { group, version, kind: builtin.kind };
  }
  return undefined;
}

/** The answer of the API server: every policy has accepted an accepted request; the policy behind a refusal is unknown. */
function serverAnswer(event: JsonObject): Answer | undefined {
  const code = Number(member(event.responseStatus, "code") ?? 0);
  return code >= 200 && code < 300 ? { allowed: true, ofServer: true } : undefined;
}
