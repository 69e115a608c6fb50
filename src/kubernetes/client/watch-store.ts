import type { JsonObject } from "../object.js";
import type { ByteLog } from "./byte-log.js";
import { ClusterUnreachable } from "./errors.js";
import type { ClusterHttp, Query } from "./http.js";
import { STORE_PAGE_BYTES } from "./limits.js";
import type { ObjectStore } from "./object-stores.js";
import { type ItemIdentity, type StoredEntry, StoredItems } from "./stored-items.js";
import { type SeenState, WatchedList, type WatchOptions } from "./watched-list.js";

/** Options of a store. */
interface StoreOptions extends WatchOptions {
  readonly path: string;
  /** Selectors. */
  readonly query: Query;
  readonly identity: ItemIdentity;
  readonly notOlderThan?: SeenState;
  /** Makes the log for texts; default: in memory. */
  readonly newLog?: () => ByteLog;
}

/** An observer that keeps the same contents as a store. */
export interface StoreObserver {
  /** Called when the store has other objects than before, all of them. */
  listed(): void;
  /** Called when an object is new, has changed, moved, or (`undefined`) was removed. */
  entry(key: string, entry: StoredEntry | undefined): void;
  /** Called when the store shows a newer state, whatever has changed. */
  version(): void;
}

/** A list whose objects are kept whole. */
export class WatchStore extends WatchedList<StoredItems> implements ObjectStore {
  readonly #observers: Set<StoreObserver>;
  readonly #letGo: () => void;

  constructor(http: ClusterHttp, { identity, newLog, ...options }: StoreOptions) {
    const observers = new Set<StoreObserver>();
    /** The contents that may hold files: those that are shown, and perhaps those of a list being read. */
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
        // Callers that have waited for it continue reading for a while.
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
   * Observes the contents.
   * @returns removes the observer
   */
  observe(observer: StoreObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  override stop(): void {
    super.stop();
    // A first list continues.
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
