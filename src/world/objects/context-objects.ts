/** Objects of Kyverno's command line without a cluster: those of a context file, or none (spec kyverno.md 4.7). */
import type { GroupVersionResource } from "../../kubernetes/names.js";
import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import { versionOf } from "./known-kinds.js";
import { Crash, type ObjectPlace, type ObjectSource } from "./object-source.js";

/** An object, and its resource. */
export interface ContextObject {
  readonly resource: GroupVersionResource;
  readonly object: JsonObject;
}

/** The objects of one resource by name, by namespace. */
type ByNamespace = Map<string, Map<string, JsonObject>>;

const notImplemented = () => new Crash("not implemented");

/**
 * Other objects do not exist, listing a resource without objects is an error, labels are ignored, and a list of all namespaces has the
 * cluster-scoped objects only: all that is the reference's. Not for a server, which does not know what exists without a cluster.
 */
export class ContextObjects implements ObjectSource {
  readonly #resources = new Map<string, ByNamespace>();

  /** @param objects of two with the same name the later one counts */
  constructor(objects: readonly ContextObject[] = []) {
    for (const { resource, object } of objects) {
      const key = keyOf(resource, resource.resource);
      const namespaces: ByNamespace = this.#resources.get(key) ?? new Map();
      this.#resources.set(key, namespaces);
      const named = namespaces.get(namespaceOf(object)) ?? new Map<string, JsonObject>();
      namespaces.set(namespaceOf(object), named);
      named.set(nameOf(object), object);
    }
  }

  get({ apiVersion, resource, namespace }: ObjectPlace, name: string): Lookup<JsonObject> {
    const version = versionOf(apiVersion);
    if (version instanceof LookupFailure) return version;
    return this.#resources.get(keyOf(version, resource))?.get(namespace)?.get(name);
  }

  list({ apiVersion, resource, namespace }: ObjectPlace): JsonObject | LookupFailure {
    const version = versionOf(apiVersion);
    if (version instanceof LookupFailure) return version;
    const namespaces = this.#resources.get(keyOf(version, resource));
    if (namespaces === undefined) {
      const named = version.group === "" ? resource : `${resource}.${version.group}`;
      return new LookupFailure(`${named} resource not found`);
    }
    return { items: [...(namespaces.get(namespace)?.values() ?? [])] };
  }

  readonly create = notImplemented;
  readonly resourceOf = notImplemented;
}

const keyOf = ({ group, version }: { readonly group: string; readonly version: string }, resource: string): string =>
  JSON.stringify([group, version, resource]);
