/**
 * Decodes CertificateRequests as the reference's Go types do (spec certificate-request-policy.md 1.1): null is absent, an unknown member is
 * dropped (newer releases have more of them), and a value of a wrong type makes the whole object malformed. Names of members are exact.
 */

import { parseGoDuration } from "../../data/go/duration.js";
import { formatPath } from "../../kubernetes/field-error.js";
import { isObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import {
  type ApiType,
  boolean,
  decodeLeniently,
  integer,
  list,
  map,
  parsed,
  string,
  struct,
} from "../shared/decode/api-type.js";
import { OBJECT_META, TIME } from "../shared/decode/object-meta.js";
import type { CertificateRequest } from "./engine/certificate-request.js";

// The common part of Go's types of policies and requests: members that are parsed from texts.

/** A duration. */
export const DURATION: ApiType = parsed((written) => {
  const duration = parseGoDuration(written);
  return duration.ok ? undefined : duration.error;
});

/** The API of requests. */
export const REQUEST_API_VERSION = "cert-manager.io/v1";
/** Their kind. */
export const REQUEST_KIND = "CertificateRequest";

/** A request that cannot be read. */
export interface Malformed {
  readonly kind: "malformed";
  /** The place and the error in one text, for the sender of the request. */
  readonly text: string;
}

/** A request; or why it cannot be read. */
export type ReadRequest = { readonly kind: "request"; readonly request: CertificateRequest } | Malformed;

const bytes = parsed((written) =>
  isBase64(written) ? undefined : "it is not base64 (standard alphabet, with padding)",
);

const REQUEST = struct("v1.CertificateRequest", {
  apiVersion: string(),
  kind: string(),
  metadata: OBJECT_META,
  spec: struct("v1.CertificateRequestSpec", {
    duration: DURATION,
    issuerRef: struct("v1.IssuerReference", { name: string(), kind: string(), group: string() }),
    request: bytes,
    isCA: boolean,
    usages: list(string("v1.KeyUsage")),
    username: string(),
    uid: string(),
    groups: list(string()),
    extra: map(list(string())),
  }),
  status: struct("v1.CertificateRequestStatus", {
    conditions: list(
      struct("v1.CertificateRequestCondition", {
        type: string("v1.CertificateRequestConditionType"),
        status: string("v1.ConditionStatus"),
        lastTransitionTime: TIME,
        reason: string(),
        message: string(),
        observedGeneration: integer,
      }),
    ),
    certificate: bytes,
    ca: bytes,
    failureTime: TIME,
  }),
});

/** Reads a CertificateRequest out of an admission request or a file. */
export function readCertificateRequest(value: unknown): ReadRequest {
  if (!isObject(value)) return malformed(`a ${REQUEST_KIND} must be an object`);
  const [apiVersion, kind] = [member(value, "apiVersion"), member(value, "kind")];
  if (apiVersion !== REQUEST_API_VERSION || kind !== REQUEST_KIND) {
    const found = `apiVersion ${shown(apiVersion)} and kind ${shown(kind)}`;
    return malformed(`a ${REQUEST_KIND} of ${REQUEST_API_VERSION} was expected, not one with ${found}`);
  }
  const decoded = decodeLeniently(value, REQUEST);
  if (!decoded.ok) {
    return malformed(`${formatPath(decoded.failure.path)}: ${decoded.failure.text}`);
  }
  return { kind: "request", request: requestOf(decoded.value) };
}

const malformed = (what: string): Malformed => ({ kind: "malformed", text: what });

/** Length up to which a member is quoted; of longer ones and of structures only the type is named. */
const SHOWN_LENGTH = 100;
function shown(value: unknown): string {
  if (value === undefined) return "(none)";
  if (typeof value !== "string") return value === null ? "null" : `(${Array.isArray(value) ? "list" : typeof value})`;
  return JSON.stringify(value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value);
}

/** The request of a decoded object: every value has its type or is absent. */
function requestOf(object: unknown): CertificateRequest {
  const spec = member(object, "spec");
  const issuerRef = member(spec, "issuerRef");
  const duration = member(spec, "duration");
  const parsedDuration = typeof duration === "string" ? parseGoDuration(duration) : undefined;
  return {
    name: nameOf(object),
    namespace: namespaceOf(object),
    request: Buffer.from(withoutLineEnds(text(spec, "request")), "base64"),
    issuerRef: { name: text(issuerRef, "name"), kind: text(issuerRef, "kind"), group: text(issuerRef, "group") },
    duration: parsedDuration?.ok ? parsedDuration.nanos : undefined,
    isCA: member(spec, "isCA") === true,
    usages: strings(member(spec, "usages")),
    username: text(spec, "username"),
    groups: strings(member(spec, "groups")),
    uid: text(spec, "uid"),
    extra: (member(spec, "extra") ?? {}) as CertificateRequest["extra"],
    decided: decidedBy(member(member(object, "status"), "conditions")),
  };
}

/** Standard alphabet, with padding; line ends do not count. */
function isBase64(written: string): boolean {
  const text = withoutLineEnds(written);
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(text)) return false;
  const padding = text.indexOf("=");
  return padding < 0 || padding === text.length - 1 || (padding === text.length - 2 && text.endsWith("=="));
}

const withoutLineEnds = (written: string): string =>
  written.includes("\n") || written.includes("\r") ? written.replace(/[\r\n]+/g, "") : written;

const strings = (value: unknown): readonly string[] => (Array.isArray(value) ? value : []);

/** The decision in the conditions: a denial counts even if there is an approval, too. */
function decidedBy(conditions: unknown): CertificateRequest["decided"] {
  if (!Array.isArray(conditions)) return undefined;
  const types = conditions.filter((each) => text(each, "status") === "True").map((each) => text(each, "type"));
  if (types.includes("Denied")) return "Denied";
  return types.includes("Approved") ? "Approved" : undefined;
}
