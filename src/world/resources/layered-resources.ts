/** Documents in front of a cluster: what a policy brings along wins over what the cluster holds, and is added to it. */
import { compareNames, type GroupVersionKind, type GroupVersionResource } from "../../kubernetes/names.js";
import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import type { EquivalentResource } from "../../kubernetes/shared-storage.js";
import { type Lookup, LookupFailure, Pending, type ResourceSource } from "./resource-source.js";

/** Two sources as one. */
export class LayeredResources implements ResourceSource {
  /**
   * @param front documents; it must not make up Namespaces, or those behind would never be seen
   * @param back the cluster
   */
  constructor(
    private readonly front: ResourceSource,
    private readonly back: ResourceSource,
  ) {}

  namespace(name: string): Lookup<JsonObject> {
    return this.front.namespace(name) ?? this.back.namespace(name);
  }

  get(kind: GroupVersionKind, namespace: string, name: string): Lookup<JsonObject> {
    return this.front.get(kind, namespace, name) ?? this.back.get(kind, namespace, name);
  }

  list(kind: GroupVersionKind, namespace: string): Lookup<readonly JsonObject[]> {
    const front = this.front.list(kind, namespace) ?? [];
    if (isUnsettled(front)) return front;
    const back = this.back.list(kind, namespace);
    if (back === undefined || front.length === 0 || isUnsettled(back)) return back ?? front;
    const brought = new Set(front.map(keyOf));
    return [...front, ...back.filter((object) => !brought.has(keyOf(object)))].sort(byNamespaceAndName);
  }

  namespaced(kind: GroupVersionKind): Lookup<boolean> {
    return this.front.namespaced(kind) ?? this.back.namespaced(kind);
  }

  equivalents(resource: GroupVersionResource, subresource: string): Lookup<readonly EquivalentResource[]> {
    return this.front.equivalents(resource, subresource) ?? this.back.equivalents(resource, subresource);
  }

  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure {
    const converted = this.front.convert(object, to);
    return converted instanceof LookupFailure ? this.back.convert(object, to) : converted;
  }
}

const isUnsettled = (found: unknown): found is Pending | LookupFailure =>
  found instanceof Pending || found instanceof LookupFailure;

const keyOf = (object: JsonObject): string => `${namespaceOf(object)}/${nameOf(object)}`;

const byNamespaceAndName = (a: JsonObject, b: JsonObject): number =>
  compareNames(namespaceOf(a), namespaceOf(b)) || compareNames(nameOf(a), nameOf(b));
