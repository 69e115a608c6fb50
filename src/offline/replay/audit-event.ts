/**
 * Reconstructs an admission request from an event of the API server's audit log (audit.k8s.io/v1). The log has less than webhooks get: missing parts
 * are reported, or the event is left out.
 */

import { decodeAdmissionReview } from "../../admission/decode.js";
import { stringifyJson } from "../../data/json.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { Answer, Found, Question } from "./question.js";

/** Parses a request in its wire format, or returns the reason why it is invalid. */
export function admissionFound(request: unknown, rest: Omit<Question, "review">): Found {
  const review = decodeAdmissionReview(Buffer.from(stringifyJson({ request })));
  if (review.kind === "problem") return { kind: "unreadable", place: rest.place, why: review.text };
  return { kind: "question", question: { review, ...rest } };
}

/** Verbs with admission of one object, with the operation unless the object was created. */
const OPERATIONS: Readonly<Record<string, string>> = {
  create: "CREATE",
  update: "UPDATE",
  patch: "UPDATE",
  delete: "DELETE",
};
/** Subresources whose requests are connections, with any verb: their operation is CONNECT, about options that the log does not hold. */
const CONNECTED: ReadonlySet<string> = new Set(["attach", "exec", "portforward", "proxy"]);
const CREATED = 201;
/** The first code of a refused request. */
const REFUSED = 400;
const NO_OLD_OBJECT = "the old object is not known (audit logs do not hold it)";
const UPDATE_OR_CREATE =
  "it may have been a CREATE (the API server refused it, so the event does not say whether there was such an object)";
const AS_SENT = "the object is as it was sent, without defaults and mutations (the event holds no response)";

/** The requests of an event: one, or for `deletecollection` one for each deleted object. */
export function* readAuditEvent(event: JsonObject, place: string): Iterable<Found> {
  if (text(event, "verb") !== "deletecollection") {
    yield requestOf(event, place);
    return;
  }
  const { responseObject: list, objectRef } = event;
  const kind = text(list, "kind");
  const items = member(list, "items");
  if (!kind.endsWith("List") || !Array.isArray(items)) {
    yield skipped("audit events of deletecollection without the deleted objects");
    return;
  }
  const described = { apiVersion: text(list, "apiVersion"), kind: kind.slice(0, -"List".length) };
  for (const [index, item] of items.filter(isObject).entries()) {
    // Admission hears of each object by its old state; the request names none (apiserver 0.37.2, registry/rest/delete.go).
    const one = { ...event, verb: "delete", responseObject: { ...described, ...item } };
    const namespace = text(objectRef, "namespace") || namespaceOf(item);
    const reference = isObject(objectRef) ? { ...objectRef, name: "", namespace } : objectRef;
    yield requestOf({ ...one, objectRef: reference }, `${place}.responseObject.items[${index}]`);
  }
}

function requestOf(event: JsonObject, place: string): Found {
  const verb = text(event, "verb");
  const reference = event.objectRef;
  const subResource = text(reference, "subresource");
  if (CONNECTED.has(subResource))
    return skipped("audit events of connections (exec, proxy), whose options they do not hold");
  const operation = operationOf(event, verb);
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
  const about = made.object ?? made.oldObject;
  const { group, version } = parseApiVersion(text(about, "apiVersion")) ?? resource;
  const kind = { group, version, kind: text(about, "kind") };
  const name = text(reference, "name") || nameOf(made.object);
  const isNamespace = resource.group === "" && resource.resource === "namespaces";
  const namespace = text(reference, "namespace") || (isNamespace ? name : "");
  const request = {
    uid: text(event, "auditID"),
    kind,
    resource,
    ...(subResource !== "" && { subResource }),
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
    dryRun: isDryRun(event),
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

/**
 * The operation: a PATCH or PUT that created its object is a CREATE for admission (apiserver 0.37.2, endpoints/handlers/patch.go and update.go). That of a
 * subresource never creates: its storage refuses to (registry/rest of status, scale and the like).
 */
function operationOf(event: JsonObject, verb: string): string | undefined {
  const operation = Object.hasOwn(OPERATIONS, verb) ? OPERATIONS[verb] : undefined;
  const isCreated = codeOf(event) === CREATED && text(event.objectRef, "subresource") === "";
  return operation === "UPDATE" && isCreated ? "CREATE" : operation;
}

/** Whether nothing was to be stored: the address says so, and for deletions also the options in the body. */
function isDryRun(event: JsonObject): boolean {
  const sent = text(event, "verb") === "delete" ? member(event.requestObject, "dryRun") : undefined;
  return /[?&]dryRun=All(?:&|$)/.test(text(event, "requestURI")) || (Array.isArray(sent) && sent.includes("All"));
}

const codeOf = (event: JsonObject): number => Number(member(event.responseStatus, "code") ?? 0);

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
  // A PUT of an object that the client had read names its version; without one it may create.
  const version = text(member(sent, "metadata"), "resourceVersion");
  if (verb === "update" && codeOf(event) >= REFUSED && version === "") old.push(UPDATE_OR_CREATE);
  // Without the answer, what server-side apply has sent is the object that it created.
  if (verb === "patch" && operation === "CREATE" && answered === undefined && isKubernetesObject(sent))
    return { object: sent, doubts: [AS_SENT] };
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

/** The answer of the API server: every policy has accepted an accepted request; the policy behind a refusal is unknown. */
function serverAnswer(event: JsonObject): Answer | undefined {
  const code = codeOf(event);
  return code >= 200 && code < 300 ? { allowed: true, ofServer: true } : undefined;
}
