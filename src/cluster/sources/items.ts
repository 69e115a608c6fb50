import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { ResourceError } from "../../kubernetes/client/errors.js";
import type { ListTarget } from "../../kubernetes/client/watched-list.js";
import { isObject, type JsonObject, member } from "../../kubernetes/object.js";
import { documentOf, keyOf, saysTheSame } from "./document.js";
import { MAX_DOCUMENTS } from "./limits.js";

/** A document with what is not part of it. */
export interface WatchedItem {
  readonly document: ClusterDocument;
  /** As it is in the cluster; whatever anybody wrote. */
  readonly status: unknown;
}

/** What names a kind in a version. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The documents of a list. One that says the same as before is the same object as before. */
export class Items implements ListTarget {
  readonly all = new Map<string, WatchedItem>();
  readonly #kind: ServedKind;
  readonly #wanted: (object: JsonObject) => boolean;
  readonly #before: ReadonlyMap<string, WatchedItem>;

  /** @param before what was known of the kind until now */
  constructor(
    kind: ServedKind,
    wanted: (object: JsonObject) => boolean,
    before: ReadonlyMap<string, WatchedItem> = new Map(),
  ) {
    this.#kind = kind;
    this.#wanted = wanted;
    this.#before = before;
  }

  /** @throws ResourceError when there are too many */
  put(object: unknown): void {
    if (!isObject(object)) return;
    if (!this.#wanted(object)) {
      this.delete(object);
      return;
    }
    const document = documentOf(object, this.#kind);
    const { key } = document;
    const known = (this.all.get(key) ?? this.#before.get(key))?.document;
    const said = known !== undefined && saysTheSame(known, document) ? known : document;
    this.all.set(key, { document: said, status: member(object, "status") });
    if (this.all.size > MAX_DOCUMENTS)
      throw new ResourceError(`there are more than ${MAX_DOCUMENTS} objects of the kind ${this.#kind.kind}`);
  }

  delete(object: unknown): void {
    this.all.delete(keyOf(this.#kind.group, this.#kind.kind, object));
  }
}
