/** An AdmissionRequest as the API server would send it, made from an object. */
import { UsageError } from "../data/command-io.js";
import { stringifyJson } from "../data/json.js";
import { isBuiltin, mistakenKind } from "../kubernetes/builtin-kinds.js";
import { creatorOf } from "../kubernetes/creator.js";
import { IdentityError, identify } from "../kubernetes/identity.js";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource } from "../kubernetes/names.js";
import { member } from "../kubernetes/object.js";
import type { AdmissionRequest } from "./admission-request.js";
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

/** A kind that a definition or a cluster tells of. */
export interface KnownResource {
  readonly resource: GroupVersionResource;
  readonly namespaced: boolean;
}

/** The kinds that are known beside the object. */
export interface Circumstances {
  /** The kinds that are not built in; undefined for one that is not known. */
  readonly find?: (kind: GroupVersionKind) => KnownResource | undefined;
  /** Receives what had to be assumed about the object. */
  readonly doubt?: (text: string) => void;
}

/** The parts of a request. */
export interface RequestParts extends Circumstances {
  readonly object: unknown;
  readonly oldObject?: unknown;
  /** Default: UPDATE when there is a former state, else CREATE. */
  readonly operation?: string | undefined;
  /** Default: the object's own, or `default` for a namespaced kind; `""`: none. */
  readonly namespace?: string | undefined;
}

/** The error for an object that no API server would take. */
export class ObjectError extends UsageError {
  /** Where the mistake stands in the object. */
  readonly path: readonly string[];
  /** The mistake, without its place. */
  readonly reason: string;

  /** @param of which object it is */
  constructor(
    cause: IdentityError,
    readonly of: "object" | "oldObject",
  ) {
    super(of === "object" ? cause.message : `the old object: ${cause.message}`, { cause });
    this.path = cause.path;
    this.reason = cause.reason;
  }
}

/**
 * Builds the request, made by the administrator, or by the creator that the object names. For DELETE the object becomes the old object, as the API server has it.
 * @throws UsageError when the operation is unknown; ObjectError for an object that no API server would take
 */
export function buildRequest(parts: RequestParts): AdmissionRequest {
  const { operation, oldObject, find, doubt } = parts;
  const op = (operation ?? (oldObject === undefined ? "CREATE" : "UPDATE")).toUpperCase();
  if (!OPERATIONS.includes(op)) {
    const message = `unknown operation '${operation}', expected one of ${OPERATIONS.join(", ")}`;
    throw new UsageError(message, { key: "operation" });
  }
  const { object, group, version, kind, name, namespace, doubt: assumed } = identified(parts, "object");
  if (assumed !== undefined) doubt?.(assumed);
  const former = oldObject === undefined ? undefined : identified({ ...parts, object: oldObject }, "oldObject").object;
  const groupVersionKind = { group, version, kind };
  // A Namespace is in itself, for admission (apiserver 0.37.2, endpoints/handlers/create.go).
  const inNamespace = group === "" && kind === "Namespace" ? name : namespace;
  const resource = find?.(groupVersionKind)?.resource ?? { group, version, resource: plural(kind.toLowerCase()) };
  return {
    uid: "00000000-0000-0000-0000-000000000000",
    kind: groupVersionKind,
    resource,
    requestKind: groupVersionKind,
    requestResource: resource,
    ...(name !== "" && { name }),
    ...(inNamespace !== "" && { namespace: inNamespace }),
    operation: op,
    userInfo: (op === "CREATE" ? creatorOf(object) : undefined) ?? ADMINISTRATOR,
    ...(op === "DELETE" ? { oldObject: former ?? object } : { object }),
    ...(op !== "DELETE" && former !== undefined ? { oldObject: former } : {}),
    dryRun: false,
  };
}

function identified({ object, namespace, find }: RequestParts, of: "object" | "oldObject") {
  if (member(object, "apiVersion") === undefined && member(object, "kind") === undefined)
    throw new UsageError("the object has no apiVersion and kind; use --raw for other JSON");
  try {
    const found = identify(object, { namespace, namespaced: (each) => find?.(each)?.namespaced });
    if (found.kind.endsWith("List") && Array.isArray(member(object, "items")))
      throw new IdentityError(["kind"], "is that of a list: admission is asked about each of its items");
    const isKnown = !isBuiltin(found) && find?.(found) !== undefined;
    const mistake = isKnown ? undefined : mistakenKind(apiVersionOf(found), found.kind);
    if (mistake !== undefined) throw new IdentityError(["kind"], `is wrong: ${mistake}`);
    return found;
  } catch (error) {
    throw error instanceof IdentityError ? new ObjectError(error, of) : error;
  }
}

/** The plural by the API machinery's guessing rule (the server knows better, a file does not). */
function plural(singular: string): string {
  if (singular.endsWith("endpoints")) return singular;
  if (/(?:s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
