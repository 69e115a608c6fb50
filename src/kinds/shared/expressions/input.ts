/** The values of `request`, `namespaceObject` and the objects, as expressions see them (spec validating-admission-policy.md 5.3 to 5.5). */
import type { Value } from "../../../cel/index.js";
import { asStruct, structOf } from "../../../kubernetes/go-types/as-struct.js";
import type { GroupVersionKind, GroupVersionResource } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { RequestAttributes } from "../match/request-attributes.js";
import { SharedResults } from "./evaluation-group.js";

/** A request as one kind and resource, with the results of expressions so far. */
export interface VersionedInput {
  readonly object: Value;
  readonly oldObject: Value;
  /** `request` for match conditions: its resource is the one addressed. */
  readonly conditionRequest: Value;
  /** `request` for everything else: its resource is the matched one. */
  readonly request: Value;
  /** Results of shared expressions among match conditions, and among validations and messages. */
  readonly conditionResults: SharedResults | undefined;
  readonly validationResults: SharedResults | undefined;
}

/**
 * Makes the input for a matched resource and kind from the objects converted to it; or answers why the request is invalid.
 * @param shares whether several evaluations may have the same results, which are kept then
 */
export function versionedInput(
  attributes: RequestAttributes,
  matched: { readonly kind: GroupVersionKind; readonly resource: GroupVersionResource },
  objects: { readonly object: unknown; readonly oldObject: unknown },
  shares = true,
): VersionedInput | LookupFailure {
  const options = optionsValue(attributes.request.options);
  if (options instanceof LookupFailure) return options;
  return new MatchedInput(attributes, matched, options, objects, shares);
}

/** The same input after a change of its object, without the former one's results. */
export function withObject(input: VersionedInput, object: Value): VersionedInput {
  const { oldObject, conditionRequest, request } = input;
  const [conditionResults, validationResults] = [new SharedResults(), new SharedResults()];
  return { object, oldObject, conditionRequest, request, conditionResults, validationResults };
}

/** The same input with another `request` outside of match conditions. */
export function withRequest(input: VersionedInput, request: Value): VersionedInput {
  const { object, oldObject, conditionRequest, conditionResults, validationResults } = input;
  return { object, oldObject, conditionRequest, request, conditionResults, validationResults };
}

/** An input that makes `request` at first use: most expressions are about the object. */
class MatchedInput implements VersionedInput {
  readonly object: Value;
  readonly oldObject: Value;
  readonly conditionResults: SharedResults | undefined;
  readonly validationResults: SharedResults | undefined;
  readonly #attributes: RequestAttributes;
  readonly #matched: Parameters<typeof versionedInput>[1];
  readonly #options: Value;
  #request: { readonly [key: string]: Value } | undefined;
  #conditionRequest: Value | undefined;

  constructor(
    attributes: RequestAttributes,
    matched: Parameters<typeof versionedInput>[1],
    options: Value,
    { object, oldObject }: Parameters<typeof versionedInput>[2],
    shares: boolean,
  ) {
    this.conditionResults = shares ? new SharedResults() : undefined;
    this.validationResults = shares ? new SharedResults() : undefined;
    this.object = (object ?? null) as Value;
    this.oldObject = (oldObject ?? null) as Value;
    this.#attributes = attributes;
    this.#matched = matched;
    this.#options = options;
  }

  get request(): { readonly [key: string]: Value } {
    const { kind, resource } = this.#matched;
    this.#request ??= requestValue(this.#attributes, kind, resource, this.#options);
    return this.#request;
  }

  get conditionRequest(): Value {
    this.#conditionRequest ??= { ...this.request, resource: { ...this.#attributes.resource } };
    return this.#conditionRequest;
  }
}

/** `request`: empty members are absent, except those that always exist. */
function requestValue(
  attributes: RequestAttributes,
  kind: GroupVersionKind,
  resource: GroupVersionResource,
  options: Value,
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
    options,
  };
}

/** Kinds of operation options. */
const OPTIONS: ReadonlySet<string> = new Set(["CreateOptions", "UpdateOptions", "DeleteOptions", "PatchOptions"]);
/** Their members that are texts. */
const OPTION_TEXTS: ReadonlySet<string> = new Set([
  "apiVersion",
  "kind",
  "fieldManager",
  "fieldValidation",
  "propagationPolicy",
]);

/** Operation options as their Go struct is printed. Those of an API server have that form already, which a quick check mostly shows. */
function optionsValue(options: unknown): Value | LookupFailure {
  if (!isObject(options)) return (options ?? null) as Value;
  const kind = text(options, "kind");
  if (!OPTIONS.has(kind)) return options as Value;
  let printed = true;
  for (const key of Object.keys(options)) {
    const value = options[key];
    if (typeof value !== "string" || value === "" || !OPTION_TEXTS.has(key)) printed = false;
  }
  if (printed) return options as Value;
  const type = structOf("meta.k8s.io/v1", kind);
  if (type === undefined) return options as Value;
  const shaped = asStruct(options, type);
  return shaped.ok ? (shaped.object as Value) : new LookupFailure(`request.options: ${shaped.error}`);
}

/** The views of a Namespace: expressions see a reduced copy, in audit annotations all of its metadata. Null where there is none. */
export interface NamespaceViews {
  readonly reduced: Value;
  readonly whole: Value;
}

/** For requests without a Namespace. */
export const NO_NAMESPACE: NamespaceViews = { reduced: null, whole: null };

/** The views of a stored Namespace. */
export const namespaceViews = (namespace: JsonObject): NamespaceViews => new StoredNamespace(namespace);

/** Each view is made at first use. */
class StoredNamespace implements NamespaceViews {
  readonly #namespace: JsonObject;
  #reduced: Value | undefined;
  #whole: Value | undefined;

  constructor(namespace: JsonObject) {
    this.#namespace = namespace;
  }

  get reduced(): Value {
    this.#reduced ??= namespaceValue(this.#namespace, false);
    return this.#reduced;
  }

  get whole(): Value {
    this.#whole ??= namespaceValue(this.#namespace, true);
    return this.#whole;
  }
}

function namespaceValue(namespace: JsonObject, whole: boolean): Value {
  const metadata = member(namespace, "metadata");
  const seen = isObject(metadata) ? metadata : {};
  return {
    metadata: (whole ? seen : picked(seen, METADATA)) as Value,
    spec: (member(namespace, "spec") ?? {}) as Value,
    status: (member(namespace, "status") ?? {}) as Value,
  };
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

function picked(object: JsonObject, keys: readonly string[]): JsonObject {
  const result: Record<string, unknown> = {};
  for (const key of keys) if (Object.hasOwn(object, key)) result[key] = object[key];
  return result;
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
