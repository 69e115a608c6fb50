import type { JsonObject } from "../object.js";
import type { ClusterHttp, Query } from "./http.js";
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
    super(http, { ...options, unwatched: true, target: () => new StoredItems(identity) });
  }

  /**
   * All objects, by namespace and name.
   * @throws why they cannot be had
   */
  async all(): Promise<readonly JsonObject[]> {
    await this.ready;
    const problem = this.problem();
    if (problem !== undefined) throw problem;
    return this.items?.all() ?? [];
  }
}
