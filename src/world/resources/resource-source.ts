/**
 * The source of what a request does not bring: Namespaces, parameters, the scope of kinds, equivalent resources. Files fill it
 * offline (`file-resources.ts`), a client's caches in a cluster. Known answers are given at once, others by
 * a promise; policies ask through a `RequestWorld`, which waits for them.
 */
import { publicReasonOf, reasonOf } from "../../kubernetes/client/errors.js";
import type { GroupVersionKind, GroupVersionResource } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Equivalents } from "../../kubernetes/shared-storage.js";
import type { Eventual } from "../eventual.js";

/** The failure of a look-up for another reason than absence. */
export class LookupFailure {
  /**
   * @param message the API server's text, for clients: without addresses, files and accounts
   * @param detail the whole reason where it is longer, for the log only
   */
  constructor(
    readonly message: string,
    readonly detail?: string,
  ) {}
}

/** The failure for an exception. */
export function lookupFailureOf(error: unknown): LookupFailure {
  const [message, whole] = [publicReasonOf(error), reasonOf(error)];
  return whole === message ? new LookupFailure(message) : new LookupFailure(message, whole);
}

/** The result of a look-up; `undefined` is "does not exist". */
export type Lookup<T> = T | undefined | LookupFailure;

/** The outside world as policies see it. */
export interface ResourceSource {
  /** The Namespace of that name. An empty name is a {@link LookupFailure}. */
  namespace(name: string): Eventual<Lookup<JsonObject>>;
  /** One object of a kind; `namespace` is `""` for a cluster-scoped kind. */
  get(kind: GroupVersionKind, namespace: string, name: string): Eventual<Lookup<JsonObject>>;
  /** The objects of a kind, by namespace and name; `namespace` is `""` for a cluster-scoped kind. */
  list(kind: GroupVersionKind, namespace: string): Eventual<Lookup<readonly JsonObject[]>>;
  /** Whether objects of the kind live in namespaces; `undefined` when there is no such kind. */
  namespaced(kind: GroupVersionKind): Eventual<Lookup<boolean>>;
  /**
   * All resources in the storage of this one, itself included, in the order they were registered; empty or only itself when it has no
   * equivalents. `undefined`: the resource is not known here, so its versions cannot be found out.
   */
  equivalents(resource: GroupVersionResource, subresource: string): Eventual<Lookup<Equivalents>>;
  /** The object (with its own apiVersion and kind) as another kind of the same storage; a failure when that takes more than another label, or is not known here. */
  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure;
}
