/** A cluster made of documents: cluster resources of Kyverno's tests, and objects that stand beside a policy (spec kyverno.md 8.6). */
import {
  apiVersionOf,
  compareNames,
  type GroupVersionKind,
  type GroupVersionResource,
  parseApiVersion,
} from "../../kubernetes/names.js";
import { isObject, type JsonObject, labelsOf, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import { KnownKinds, type KnownResource, noSuchKind, versionOf } from "./known-kinds.js";
import type { EqualLabels, ObjectPlace, ObjectSource } from "./object-source.js";

/** The namespace of an object that names none. */
const DEFAULT_NAMESPACE = "default";

/** The objects of a resource, by namespace and name. */
interface Collection {
  readonly kind: string;
  readonly objects: Map<string, JsonObject>;
}

/** Holds objects of known kinds; created ones are added. */
export class MemoryObjects implements ObjectSource {
  readonly #kinds: KnownKinds;
  readonly #collections = new Map<string, Collection>();

  /**
   * @param objects those of unknown kinds are left out; those of kinds in namespaces without one are in `default`, as when they are applied
   * @param kinds default: built-in ones and those that the objects define
   */
  constructor(objects: readonly JsonObject[], kinds: KnownKinds = new KnownKinds(objects)) {
    this.#kinds = kinds;
    for (const object of objects) this.#put(this.#placed(object));
  }

  #placed(object: JsonObject): JsonObject {
    if (namespaceOf(object) !== "" || this.#known(object)?.namespaced !== true) return object;
    const metadata = member(object, "metadata");
    return { ...object, metadata: { ...(isObject(metadata) && metadata), namespace: DEFAULT_NAMESPACE } };
  }

  #known(object: JsonObject): KnownResource | undefined {
    const version = parseApiVersion(text(object, "apiVersion"));
    return version && this.#kinds.find({ ...version, kind: text(object, "kind") });
  }

  #put(object: JsonObject): void {
    const kind = text(object, "kind");
    const known = this.#known(object);
    if (known === undefined) return;
    const key = resourceKey(known.resource);
    const collection = this.#collections.get(key) ?? { kind, objects: new Map() };
    this.#collections.set(key, collection);
    collection.objects.set(objectKey(namespaceOf(object), nameOf(object)), object);
  }

  /** Whether there is any object of a resource. */
  has({ apiVersion, resource }: ObjectPlace): boolean {
    const version = parseApiVersion(apiVersion);
    return version !== undefined && this.#collections.has(resourceKey({ ...version, resource }));
  }

  get(place: ObjectPlace, name: string): Lookup<JsonObject> {
    const collection = this.#collection(place);
    if (collection === undefined || collection instanceof LookupFailure) return collection;
    return collection.objects.get(objectKey(place.namespace, name));
  }

  list(place: ObjectPlace, labels: EqualLabels): JsonObject | LookupFailure {
    const collection = this.#collection(place);
    if (collection instanceof LookupFailure) return collection;
    if (collection === undefined) return new LookupFailure("the server could not find the requested resource");
    const items = [...collection.objects.entries()]
      .filter(([, object]) => place.namespace === "" || namespaceOf(object) === place.namespace)
      .filter(([, object]) => hasLabels(object, labels))
      .sort(([a], [b]) => compareNames(a, b))
      .map(([, object]) => object);
    return { apiVersion: place.apiVersion, kind: `${collection.kind}List`, metadata: {}, items };
  }

  create({ apiVersion, resource, namespace }: ObjectPlace, object: JsonObject): JsonObject | LookupFailure {
    const version = versionOf(apiVersion);
    if (version instanceof LookupFailure) return version;
    const { metadata } = object;
    const placed =
      namespace === "" ? object : { ...object, metadata: { ...(metadata as JsonObject | undefined), namespace } };
    const key = objectKey(namespace, nameOf(placed));
    const collection = this.#collections.get(resourceKey({ ...version, resource }));
    if (collection?.objects.has(key) === true) {
      return new LookupFailure(`${resource} ${JSON.stringify(nameOf(placed))} already exists`);
    }
    this.#put(placed);
    return placed;
  }

  resourceOf(apiVersion: string, kind: string): GroupVersionResource | LookupFailure {
    const version = versionOf(apiVersion);
    if (version instanceof LookupFailure) return version;
    return this.#kinds.find({ ...version, kind } satisfies GroupVersionKind)?.resource ?? noSuchKind(apiVersion, kind);
  }

  #collection({ apiVersion, resource }: ObjectPlace): Collection | LookupFailure | undefined {
    const version = versionOf(apiVersion);
    return version instanceof LookupFailure ? version : this.#collections.get(resourceKey({ ...version, resource }));
  }
}

const hasLabels = (object: JsonObject, wanted: EqualLabels): boolean => {
  const labels = labelsOf(object);
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
};

const resourceKey = (resource: GroupVersionResource): string => `${apiVersionOf(resource)}/${resource.resource}`;
const objectKey = (namespace: string, name: string): string => `${namespace}/${name}`;
