/** The values of `request`, `namespaceObject` and the objects, as expressions see them (spec validating-admission-policy.md 5.3 to 5.5). */
import type { Value } from "../../cel/index.js";
import type { GroupVersionKind, GroupVersionResource } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member } from "../../kubernetes/object.js";
import type { RequestAttributes } from "../match/request-attributes.js";
import type { SharedResults } from "./evaluation-group.js";

/** A request as one kind and resource see it, with what expressions made of it so far. */
export interface VersionedInput {
  readonly object: Value;
  readonly oldObject: Value;
  /** `request` for match conditions: its resource is the one addressed. */
  readonly conditionRequest: Value;
  /** `request` for everything else: its resource is the matched one. */
  readonly request: Value;
  /** Results of shared expressions among match conditions, and among validations and messages. */
  readonly conditionResults: SharedResults;
  readonly validationResults: SharedResults;
}

/** Makes the input for a matched resource and kind from the objects converted to it. */
export function versionedInput(
  attributes: RequestAttributes,
  matched: { readonly kind: GroupVersionKind; readonly resource: GroupVersionResource },
  objects: { readonly object: unknown; readonly oldObject: unknown },
): VersionedInput {
  const request = requestValue(attributes, matched.kind, matched.resource);
  return {
    object: (objects.object ?? null) as Value,
    oldObject: (objects.oldObject ?? null) as Value,
    conditionRequest: { ...request, resource: { ...attributes.resource } },
    request,
    conditionResults: new Map(),
    validationResults: new Map(),
  };
}

/** Members that are empty are absent, except those that are always there. */
function requestValue(
  attributes: RequestAttributes,
  kind: GroupVersionKind,
  resource: GroupVersionResource,
): { readonly [key: string]: Value } {
  const { request, subresource, name, namespace } = attributes;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group: resource.group, version: resource.version, resource: resource.resource },
    requestKind: { ...attributes.kind },
    requestResource: { ...attributes.resource },
    ...(subresource !== "" && { subResource: subresource, requestSubResource: subresource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation: attributes.operation,
    userInfo: withoutEmpty(request.userInfo as JsonObject, ["username", "uid", "groups", "extra"]) as Value,
    dryRun: request.dryRun ?? false,
    options: (request.options ?? null) as Value,
  };
}

/** What expressions see of a Namespace: a reduced copy, in audit annotations all of its metadata. Null where there is none. */
export interface NamespaceViews {
  readonly reduced: Value;
  readonly whole: Value;
}

/** For requests without a Namespace. */
export const NO_NAMESPACE: NamespaceViews = { reduced: null, whole: null };

/** The views of a stored Namespace. */
export const namespaceViews = (namespace: JsonObject): NamespaceViews => ({
  reduced: namespaceValue(namespace, false),
  whole: namespaceValue(namespace, true),
});

function namespaceValue(namespace: JsonObject, whole: boolean): Value {
  const metadata = member(namespace, "metadata");
  return {
    metadata: isObject(metadata) ? withoutEmpty(metadata, whole ? Object.keys(metadata) : METADATA) : {},
    spec: section(namespace, "spec"),
    status: section(namespace, "status"),
  } as Value;
}

const METADATA = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "finalizers",
];

function section(namespace: JsonObject, name: string): JsonObject {
  const value = member(namespace, name);
  return isObject(value) ? withoutEmpty(value, Object.keys(value)) : {};
}

function withoutEmpty(object: JsonObject, keys: readonly string[]): JsonObject {
  const result: Record<string, unknown> = {};
  for (const key of keys) {
    const value = member(object, key);
    if (value === undefined || value === null || value === "" || value === 0) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    if (isObject(value) && Object.keys(value).length === 0) continue;
    result[key] = value;
  }
  return result;
}
