/**
 * Where policies find what a request does not bring: Namespaces, parameters, the scope of kinds, equivalent resources. Files fill it
 * offline ({@link ./file-resources.js}), a client's caches in a cluster. It is asked synchronously; an answer that has to be fetched first
 * is a {@link Pending}, and the question is repeated when it has arrived.
 */
import type { GroupVersionKind, GroupVersionResource } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { EquivalentResource } from "../../kubernetes/shared-storage.js";

/** The answer is on its way: ask again when `ready` has settled. */
export class Pending {
  constructor(readonly ready: Promise<unknown>) {}
}

/** The look-up failed for another reason than absence. */
export class LookupFailure {
  /** @param message the text as the API server would say it */
  constructor(readonly message: string) {}
}

/** What a look-up gives; `undefined` is "does not exist". */
export type Lookup<T> = T | undefined | Pending | LookupFailure;

/** The outside world as policies see it. */
export interface ResourceSource {
  /** The Namespace of that name. An empty name is a {@link LookupFailure}. */
  namespace(name: string): Lookup<JsonObject>;
  /** One object of a kind; `namespace` is `""` for a cluster-scoped kind. */
  get(kind: GroupVersionKind, namespace: string, name: string): Lookup<JsonObject>;
  /** The objects of a kind, by namespace and name; `namespace` is `""` for a cluster-scoped kind. */
  list(kind: GroupVersionKind, namespace: string): Lookup<readonly JsonObject[]>;
  /** Whether objects of the kind live in namespaces; `undefined` when there is no such kind. */
  namespaced(kind: GroupVersionKind): Lookup<boolean>;
  /**
   * All resources in the storage of this one, itself included, in the order they were registered; empty or only itself when it has no
   * equivalents. `undefined`: nobody here knows the resource, so that there is no telling which versions it has.
   */
  equivalents(resource: GroupVersionResource, subresource: string): Lookup<readonly EquivalentResource[]>;
  /** The object as another kind of the same storage; a failure when that takes more than another label, or when nobody here knows. */
  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure;
}
