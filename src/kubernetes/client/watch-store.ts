import type { JsonObject } from "../object.js";
import { ClusterUnreachable } from "./errors.js";
import type { ClusterHttp, Query } from "./http.js";
import { STORE_PAGE_BYTES } from "./limits.js";
import { StoredItems } from "./stored-items.js";
import { WatchedList, type WatchOptions } from "./watched-list.js";

/** What a store holds. */
interface StoreOptions extends WatchOptions {
  readonly path: string;
  /** Selectors. */
  readonly query: Query;
  readonly identity: { readonly apiVersion: string; readonly kind: string };
}

/** A list whose objects are kept whole. */
export class WatchStore extends WatchedList<StoredItems> {
  constructor(http: ClusterHttp, { identity, ...options }: StoreOptions) {
    super(http, { ...options, unwatched: true, pageBytes: STORE_PAGE_BYTES, target: () => new StoredItems(identity) });
  }

  /**
   * What it holds, when that is there.
   * @throws why it cannot be had
   */
  async contents(): Promise<StoredItems> {
    await this.ready;
    const problem = this.problem();
    if (problem !== undefined) throw problem;
    if (this.items === undefined) throw new ClusterUnreachable("the list is not there");
    return this.items;
  }

  /**
   * All objects, by namespace and name.
   * @throws why they cannot be had
   */
  async all(): Promise<readonly JsonObject[]> {
    return (await this.contents()).all();
  }
}
