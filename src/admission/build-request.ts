/** An AdmissionRequest as the API server would send it, made from an object. */
import { UsageError } from "../data/command-io.js";
import { stringifyJson } from "../data/json.js";
import { creatorOf } from "../kubernetes/creator.js";
import type { AdmissionRequest, GroupVersionKind } from "./admission-request.js";
import { type DecodedAdmission, decodeAdmissionReview } from "./decode.js";

/** Operations that an admission request can have. */
const OPERATIONS = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/**
 * Reads a request that stands in a file: an AdmissionReview, or (as kwctl takes it) only what is in its `request`.
 * @param place of the request, for messages
 * @throws UsageError when it is neither
 */
export function readRequest(written: unknown, place: string): DecodedAdmission {
  const bare = typeof written === "object" && written !== null && "uid" in written && !("request" in written);
  const decoded = decodeAdmissionReview(Buffer.from(stringifyJson(bare ? { request: written } : written)));
  if (decoded.kind === "problem") throw new UsageError(`${place}: ${decoded.text}`);
  return decoded;
}

/** The default requester. */
const ADMINISTRATOR = { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

/** The parts of a request. */
export interface RequestParts {
  readonly object: unknown;
  readonly oldObject?: unknown;
  /** Default: UPDATE when there is a former state, else CREATE. */
  readonly operation?: string | undefined;
  /** Default: the object's own. */
  readonly namespace?: string | undefined;
}

/**
 * Builds the request, made by the administrator, or by the creator that the object names. For DELETE the object becomes the old object, as the API server has it.
 * @throws UsageError when the object is not a Kubernetes object or the operation is unknown
 */
export function buildRequest({ object, oldObject, operation, namespace }: RequestParts): AdmissionRequest {
  const op = (operation ?? (oldObject === undefined ? "CREATE" : "UPDATE")).toUpperCase();
  if (!OPERATIONS.includes(op)) {
    const message = `unknown operation '${operation}', expected one of ${OPERATIONS.join(", ")}`;
    throw new UsageError(message, { key: "operation" });
  }
  const { apiVersion, kind, metadata } = (object ?? {}) as Record<string, unknown>;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    throw new UsageError("the object has no apiVersion and kind; use --raw for other JSON");
  }
  const own = (metadata ?? {}) as Record<string, unknown>;
  const groupVersionKind = kindOf(apiVersion, kind);
  const { group, version } = groupVersionKind;
  const resource = { group, version, resource: plural(kind.toLowerCase()) };
  const inNamespace = namespace ?? own.namespace;
  return {
    uid: "00000000-0000-0000-0000-000000000000",
    kind: groupVersionKind,
    resource,
    requestKind: groupVersionKind,
    requestResource: resource,
    ...(typeof own.name === "string" && { name: own.name }),
    ...(typeof inNamespace === "string" && { namespace: inNamespace }),
    operation: op,
    userInfo: (op === "CREATE" ? creatorOf(object) : undefined) ?? ADMINISTRATOR,
    ...(op === "DELETE" ? { oldObject: oldObject ?? object } : { object }),
    ...(op !== "DELETE" && oldObject !== undefined ? { oldObject } : {}),
    dryRun: false,
  };
}

function kindOf(apiVersion: string, kind: string): GroupVersionKind {
  const slash = apiVersion.indexOf("/");
  return { group: slash < 0 ? "" : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
}

/** The plural by the API machinery's guessing rule (the server knows better, a file does not). */
function plural(singular: string): string {
  if (singular.endsWith("endpoints")) return singular;
  if (/(?:s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
