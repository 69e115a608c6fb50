import { LRUCache } from "lru-cache";
import { apiVersionOf } from "../names.js";
import { isOlder } from "../resource-version.js";
import type { ByteLog } from "./byte-log.js";
import type { ApiResource } from "./discovery.js";
import { ApiError, ClusterUnreachable } from "./errors.js";
import type { ClusterHttp, Query } from "./http.js";
import { MAX_NAMED_STORES, MAX_STORES_BYTES, NAMED_STORE_KEPT_MS } from "./limits.js";
import type { ObjectStores, StoreScope } from "./object-stores.js";
import { collectionPath } from "./paths.js";
import { WatchStore } from "./watch-store.js";
import { restAfterFailure, restAfterList } from "./watch-timing.js";
import type { WatchOptions } from "./watched-list.js";

/** The limits of stores, and callbacks. */
export interface StoreBounds {
  /** Most lists. */
  readonly max: number;
  /** Most bytes of all lists; default {@link MAX_STORES_BYTES}. */
  readonly maxBytes?: number;
  /** Most objects with a watch of their own; default {@link MAX_NAMED_STORES}. */
  readonly maxNamed?: number;
  /** Makes the log for the texts of lists; default: in memory. */
  readonly newLog?: () => ByteLog;
  /** Called when the API server does not know a resource that discovery has found. */
  readonly gone?: (resource: ApiResource) => void;
}

/** A store, and the number of consecutive failures before it. */
interface Entry {
  readonly store: WatchStore;
  readonly failures: number;
}

/** All stores of a cluster: each is made when it is first needed, and the least recently used is removed. */
export class WatchStores implements ObjectStores {
  readonly #http: ClusterHttp;
  readonly #options: WatchOptions;
  readonly #maxNamed: number;
  readonly #maxBytes: number;
  readonly #gone: (resource: ApiResource) => void;
  readonly #newLog: (() => ByteLog) | undefined;
  readonly #lists: LRUCache<string, Entry>;
  /** The stores of single objects. */
  readonly #named: LRUCache<string, Entry>;

  constructor(
    http: ClusterHttp,
    { max, maxBytes = MAX_STORES_BYTES, maxNamed = MAX_NAMED_STORES, gone = () => {}, newLog }: StoreBounds,
    options: WatchOptions,
  ) {
    this.#http = http;
    this.#options = options;
    this.#maxNamed = maxNamed;
    this.#maxBytes = maxBytes;
    this.#gone = gone;
    this.#newLog = newLog;
    const dispose = ({ store }: Entry): void => store.stop();
    this.#lists = new LRUCache({ max, dispose });
    const idle = { ttl: NAMED_STORE_KEPT_MS, updateAgeOnGet: true, ttlResolution: 0, perf: { now: options.now } };
    this.#named = new LRUCache({ max: maxNamed, dispose, ...idle });
  }

  /** Number of stores. */
  get size(): number {
    return this.#lists.size + this.#named.size;
  }

  /**
   * The store of a list. One that has failed is kept for a while, longer each time; one that may not be watched, until enough time has passed for its cost.
   * Then it is made anew.
   */
  of(resource: ApiResource, { namespace, labelSelector, fieldSelector }: StoreScope): WatchStore {
    const query: Query = {
      ...(labelSelector && { labelSelector }),
      ...(fieldSelector && { fieldSelector }),
    };
    return this.#from(this.#lists, resource, collectionPath(resource, namespace), query);
  }

  /** The store in which an object is found by its name: its kind's if there is one, else its own. */
  named(resource: ApiResource, namespace: string, name: string): WatchStore {
    const path = collectionPath(resource, namespace);
    const query: Query = { fieldSelector: `metadata.name=${escaped(name)}` };
    const key = keyOf(path, query);
    const whole = this.#lists.peek(keyOf(collectionPath(resource, ""), {}))?.store;
    // Each watch has its own progress.
    const seen = this.#named.peek(key)?.store.version ?? "";
    if (whole?.items !== undefined && whole.problem() === undefined && !isOlder(whole.version, seen)) {
      this.#named.delete(key);
      return this.of(resource, { namespace: "" });
    }
    if (!this.#named.has(key) && this.#named.size >= this.#maxNamed) {
      this.#named.purgeStale();
      if (this.#named.size >= this.#maxNamed) return this.of(resource, { namespace: "" });
    }
    return this.#from(this.#named, resource, path, query);
  }

  /** Ends all watches. */
  close(): void {
    this.#lists.clear();
    this.#named.clear();
  }

  #from(stores: LRUCache<string, Entry>, resource: ApiResource, path: string, query: Query): WatchStore {
    const key = keyOf(path, query);
    const known = stores.get(key);
    if (known !== undefined && this.#options.now() < dueAt(known, this.#http.outage.returnedAt)) return known.store;
    const failures = known?.store.failed === undefined ? 0 : known.failures + 1;
    const identity = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    const notOlderThan = known?.store.newest;
    const store = new WatchStore(this.#http, {
      ...this.#options,
      path,
      query,
      identity,
      ...(notOlderThan !== undefined && { notOlderThan }),
      // One object is not worth a file.
      ...(this.#newLog !== undefined && stores === this.#lists && { newLog: this.#newLog }),
      // That was reported when it was found out.
      ...(known?.store.unwatched !== undefined && { note: () => {} }),
    });
    stores.set(key, { store, failures });
    store.ready.then(
      () => this.#makeRoom(store),
      () => {},
    );
    void store.ended.then((error) => {
      if (error instanceof ApiError && error.status === 404) this.#gone(resource);
    });
    return store;
  }

  /** Removes the least recently used lists, where all together are too large: except the newest. */
  #makeRoom(newest: WatchStore): void {
    let bytes = 0;
    for (const [key, { store }] of [...this.#lists.entries()]) {
      for (const log of store.items?.logs ?? []) bytes += log.size;
      if (bytes > this.#maxBytes && store !== newest && store.items !== undefined) this.#lists.delete(key);
    }
  }
}

/** The time at which a store is to be made anew: at once when the API server has come back since it failed. */
function dueAt({ store, failures }: Entry, returnedAt: number): number {
  const { failed, unwatched, listedAt, pages } = store;
  if (failed !== undefined) {
    const { error, at } = failed;
    if (at < returnedAt) return returnedAt;
    // A resource that did not exist may exist soon: it is asked for again early.
    const absent = error instanceof ApiError && error.status === 404;
    return at + restAfterFailure(absent ? 1 : failures + 1, pages, !(error instanceof ClusterUnreachable));
  }
  return unwatched === undefined ? Number.POSITIVE_INFINITY : listedAt + restAfterList(pages);
}

const keyOf = (path: string, query: Query): string => JSON.stringify([path, query]);

/** A value of a field selector: names may contain its special characters. */
const escaped = (value: string): string => value.replace(/[\\,=]/g, "\\$&");
