/** The variables of a request, as expressions see them (spec kyverno.md 2.3). */
import type { Value } from "../../../cel/index.js";
import { apiVersionOf } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member } from "../../../kubernetes/object.js";
import type { AdmissionRequest } from "../../../policy/index.js";
import type { AdmissionInput } from "./engine-request.js";

/** The inputs of expressions. */
export interface Inputs {
  readonly object: Value;
  readonly oldObject: Value;
  readonly request: Value;
}

/** The value of a missing object: an empty map, not null. */
const ABSENT: Value = {};

/** The variables of an admission request. */
export function inputsOf({ request, objects }: AdmissionInput): Inputs {
  const { object, oldObject } = objects ?? request;
  return {
    object: objectValue(object, request),
    oldObject: objectValue(oldObject, request),
    request: requestValue(request),
  };
}

/** An object, with the requested kind and namespace. A value that a group asks about may be anything. */
function objectValue(object: unknown, { kind, namespace = "" }: AdmissionRequest): Value {
  if (object === undefined || object === null) return ABSENT;
  if (!isObject(object) || kind.kind === "") return object as Value;
  const apiVersion = apiVersionOf(kind);
  const isNamespace = kind.kind === "Namespace";
  const metadata = member(object, "metadata");
  const own = isObject(metadata) ? member(metadata, "namespace") : undefined;
  const wanted = isNamespace ? undefined : namespace === "" ? own : namespace;
  const same = member(object, "apiVersion") === apiVersion && member(object, "kind") === kind.kind;
  if (same && own === wanted) return object as Value;
  const value: Record<string, unknown> = { ...object, apiVersion, kind: kind.kind };
  if (own !== wanted) {
    const { namespace: _, ...rest } = isObject(metadata) ? metadata : ({} as JsonObject);
    value.metadata = wanted === undefined ? rest : { ...rest, namespace: wanted };
  }
  return value as Value;
}

/** `request`: empty members are absent, except the objects, which are null. */
export function requestValue(request: AdmissionRequest): Value {
  const { uid, kind, resource, subResource, requestKind, requestResource, requestSubResource } = request;
  const { name, namespace, operation, userInfo, object, oldObject, dryRun, options } = request;
  const { username, uid: userUid, groups, extra } = userInfo;
  return {
    uid,
    kind: { ...kind },
    resource: { ...resource },
    ...(subResource && { subResource }),
    ...(requestKind && { requestKind: { ...requestKind } }),
    ...(requestResource && { requestResource: { ...requestResource } }),
    ...(requestSubResource && { requestSubResource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: {
      ...(username && { username }),
      ...(userUid && { uid: userUid }),
      ...(groups && groups.length > 0 && { groups }),
      ...(extra && Object.keys(extra).length > 0 && { extra }),
    } as Value,
    object: (object ?? null) as Value,
    oldObject: (oldObject ?? null) as Value,
    ...(dryRun !== undefined && { dryRun }),
    options: (options ?? null) as Value,
  };
}
