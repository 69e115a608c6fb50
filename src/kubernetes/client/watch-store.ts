import type { JsonObject } from "../object.js";
import type { ByteLog } from "./byte-log.js";
import { ClusterUnreachable } from "./errors.js";
import type { ClusterHttp, Query } from "./http.js";
import { STORE_PAGE_BYTES } from "./limits.js";
import type { ObjectStore } from "./object-stores.js";
import { type ItemIdentity, type StoredEntry, StoredItems } from "./stored-items.js";
import { type SeenState, WatchedList, type WatchOptions } from "./watched-list.js";

/** What a store holds. */
interface StoreOptions extends WatchOptions {
  readonly path: string;
  /** Selectors. */
  readonly query: Query;
  readonly identity: ItemIdentity;
  readonly notOlderThan?: SeenState;
  /** Makes what texts are written to; default: in memory. */
  readonly newLog?: () => ByteLog;
}

/** Who holds the same as a store. */
export interface StoreObserver {
  /** The store holds other objects than before, all of them. */
  listed(): void;
  /** One of them is new, has changed, stands somewhere else, or (`undefined`) is gone. */
  entry(key: string, entry: StoredEntry | undefined): void;
  /** The store shows a newer state, whatever has changed. */
  version(): void;
}

/** A list whose objects are kept whole. */
export class WatchStore extends WatchedList<StoredItems> implements ObjectStore {
  readonly #observers: Set<StoreObserver>;
  readonly #letGo: () => void;

  constructor(http: ClusterHttp, { identity, newLog, ...options }: StoreOptions) {
    const observers = new Set<StoreObserver>();
    /** Those that were begun, and may hold files: the one that is shown, and perhaps one that is being read. */
    const made = new Set<StoredItems>();
    const letGo = (but?: StoredItems): void => {
      for (const items of made) {
        if (items === but) continue;
        made.delete(items);
        items.close();
      }
    };
    let stopped = (): boolean => false;
    super(http, {
      ...options,
      unwatched: true,
      pageBytes: STORE_PAGE_BYTES,
      target: () => {
        const items = new StoredItems(identity, newLog);
        made.add(items);
        return items;
      },
      listed: (items) => {
        letGo(items);
        // Those who have waited for it read on for a while.
        if (stopped()) letGo();
        items.sink = (key, entry) => {
          for (const each of observers) each.entry(key, entry);
        };
        for (const each of observers) each.listed();
      },
      seen: () => {
        for (const each of observers) each.version();
      },
    });
    this.#observers = observers;
    this.#letGo = () => letGo();
    stopped = () => this.stopped;
    void this.ended.then(() => {
      if (this.failed !== undefined) letGo();
    });
  }

  /**
   * Follows what it holds.
   * @returns takes it back
   */
  observe(observer: StoreObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  override stop(): void {
    super.stop();
    // A first list goes on.
    if (this.items !== undefined) this.#letGo();
  }

  async contents(): Promise<StoredItems> {
    await this.ready;
    const problem = this.problem();
    if (problem !== undefined) throw problem;
    if (this.items === undefined) throw new ClusterUnreachable("the list is not there");
    return this.items;
  }

  async all(): Promise<readonly JsonObject[]> {
    const items = await this.contents();
    await items.readAll();
    return items.all();
  }
}
