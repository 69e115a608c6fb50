import { LRUCache } from "lru-cache";
import { apiVersionOf } from "../names.js";
import type { ApiResource } from "./discovery.js";
import type { ClusterHttp, Query } from "./http.js";
import { FAILURE_KEPT_MS } from "./limits.js";
import { collectionPath } from "./paths.js";
import { WatchStore } from "./watch-store.js";
import type { WatchOptions } from "./watched-list.js";

/** Which objects of a resource. */
export interface StoreScope {
  /** `""`: all namespaces, or none. */
  readonly namespace: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** All stores of a cluster: each is made when it is first asked for, and the one not asked for longest gives way. */
export class WatchStores {
  readonly #http: ClusterHttp;
  readonly #options: WatchOptions;
  readonly #stores: LRUCache<string, WatchStore>;

  constructor(http: ClusterHttp, max: number, options: WatchOptions) {
    this.#http = http;
    this.#options = options;
    this.#stores = new LRUCache({ max, dispose: (store) => store.stop() });
  }

  /** How many there are. */
  get size(): number {
    return this.#stores.size;
  }

  /** The store of a list. One that has failed is shown for a moment, then made anew. */
  of(resource: ApiResource, { namespace, labelSelector, fieldSelector }: StoreScope): WatchStore {
    const path = collectionPath(resource, namespace);
    const query: Query = {
      ...(labelSelector && { labelSelector }),
      ...(fieldSelector && { fieldSelector }),
    };
    const key = JSON.stringify([path, query]);
    const known = this.#stores.get(key);
    if (known !== undefined && (known.failed === undefined || this.#options.now() - known.failed.at < FAILURE_KEPT_MS))
      return known;
    const identity = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    const store = new WatchStore(this.#http, { ...this.#options, path, query, identity });
    this.#stores.set(key, store);
    return store;
  }

  /** Ends all watches. */
  close(): void {
    this.#stores.clear();
  }
}
