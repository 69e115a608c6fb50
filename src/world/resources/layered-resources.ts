import type { GroupVersionKind, GroupVersionResource } from "../../kubernetes/names.js";
import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import type { Equivalents } from "../../kubernetes/shared-storage.js";
import { andThen, type Eventual } from "../eventual.js";
import { byNamespaceAndName } from "./file-resources.js";
import { type Lookup, LookupFailure, type ResourceSource } from "./resource-source.js";

/** Documents in front of a cluster: a policy's documents take precedence over the cluster's objects, and are added to them. */
export class LayeredResources implements ResourceSource {
  readonly #front: ResourceSource;
  readonly #back: ResourceSource;

  /**
   * @param front documents; it must not make up Namespaces, or those behind would never be seen
   * @param back the cluster
   */
  constructor(front: ResourceSource, back: ResourceSource) {
    this.#front = front;
    this.#back = back;
  }

  namespace(name: string): Eventual<Lookup<JsonObject>> {
    return andThen(this.#front.namespace(name), (found) => found ?? this.#back.namespace(name));
  }

  get(kind: GroupVersionKind, namespace: string, name: string): Eventual<Lookup<JsonObject>> {
    return andThen(this.#front.get(kind, namespace, name), (found) => found ?? this.#back.get(kind, namespace, name));
  }

  list(kind: GroupVersionKind, namespace: string): Eventual<Lookup<readonly JsonObject[]>> {
    return andThen(this.#front.list(kind, namespace), (front = []) =>
      front instanceof LookupFailure ? front : andThen(this.#back.list(kind, namespace), (back) => both(front, back)),
    );
  }

  namespaced(kind: GroupVersionKind): Eventual<Lookup<boolean>> {
    return andThen(this.#front.namespaced(kind), (found) => found ?? this.#back.namespaced(kind));
  }

  /** Equivalents: documents know the source for resources that they do not define. */
  equivalents(resource: GroupVersionResource, subresource: string): Eventual<Lookup<Equivalents>> {
    return this.#front.equivalents(resource, subresource);
  }

  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure {
    const converted = this.#front.convert(object, to);
    return converted instanceof LookupFailure ? this.#back.convert(object, to) : converted;
  }
}

/** Objects of both, those in front replacing those of the same name behind. */
function both(front: readonly JsonObject[], back: Lookup<readonly JsonObject[]>): Lookup<readonly JsonObject[]> {
  if (back === undefined || front.length === 0 || back instanceof LookupFailure) return back ?? front;
  const brought = new Set(front.map(keyOf));
  return [...front, ...back.filter((object) => !brought.has(keyOf(object)))].sort(byNamespaceAndName);
}

const keyOf = (object: JsonObject): string => `${namespaceOf(object)}/${nameOf(object)}`;
