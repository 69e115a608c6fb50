import { isObject, type JsonObject, member, nameOf, namespaceOf } from "../object.js";
import { ResourceError } from "./errors.js";
import { MAX_STORE_OBJECTS } from "./limits.js";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The objects of a store, by namespace and name, and how much there may be of them. */
export class StoredItems {
  readonly #identity: { readonly apiVersion: string; readonly kind: string };
  readonly #objects = new Map<string, JsonObject>();
  #sorted: readonly JsonObject[] | undefined;

  /** @param identity what lists leave out of their items */
  constructor(identity: { readonly apiVersion: string; readonly kind: string }) {
    this.#identity = identity;
  }

  /** All, by namespace and name. */
  all(): readonly JsonObject[] {
    // Names are ASCII, and NUL comes before all of it.
    this.#sorted ??= [...this.#objects.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    return this.#sorted;
  }

  get(namespace: string, name: string): JsonObject | undefined {
    return this.#objects.get(`${namespace}\0${name}`);
  }

  /** @throws ResourceError when there are too many */
  put(object: unknown): void {
    if (!isObject(object)) return;
    this.#objects.set(keyOf(object), trimmed({ ...this.#identity, ...object }));
    this.#sorted = undefined;
    if (this.#objects.size > MAX_STORE_OBJECTS) {
      throw new ResourceError(
        `there are more than ${MAX_STORE_OBJECTS} objects of kind ${this.#identity.kind}: narrow the list by a selector`,
      );
    }
  }

  delete(object: unknown): void {
    if (isObject(object) && this.#objects.delete(keyOf(object))) this.#sorted = undefined;
  }
}

const keyOf = (object: JsonObject): string => `${namespaceOf(object)}\0${nameOf(object)}`;

/** Without what no policy reads and much memory holds (spec kubewarden.md 7.6). */
export function trimmed(object: JsonObject): JsonObject {
  const metadata = member(object, "metadata");
  if (!isObject(metadata)) return object;
  const annotations = member(metadata, "annotations");
  const kept: Record<string, unknown> = { ...metadata };
  if (Object.hasOwn(metadata, "managedFields")) kept.managedFields = [];
  if (isObject(annotations) && Object.hasOwn(annotations, LAST_APPLIED)) {
    const { [LAST_APPLIED]: _, ...others } = annotations;
    kept.annotations = others;
  }
  return { ...object, metadata: kept };
}
