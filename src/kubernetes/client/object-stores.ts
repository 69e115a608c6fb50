import type { JsonObject } from "../object.js";
import type { ApiResource } from "./discovery.js";
import type { StoredItems } from "./stored-items.js";

/** Selects objects of a resource. */
export interface StoreScope {
  /** `""`: all namespaces, or none. */
  readonly namespace: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The contents of a store. */
export type StoreContents = Pick<StoredItems, "get" | "all" | "isRead" | "readAll" | "texts">;

/** The objects of a list, or one object, kept fresh. */
export interface ObjectStore {
  /** The contents; `undefined` until they are complete. */
  readonly items: StoreContents | undefined;
  /** The state of the contents, as a resourceVersion. */
  readonly version: string;
  /** Time of the first question, in monotonic milliseconds. */
  readonly since: number;
  /** Settles when the contents are complete; rejects with the reason when they cannot be read. */
  readonly ready: Promise<void>;
  /** The reason why the contents should not be used. */
  problem(): Error | undefined;
  /**
   * The contents, once they are complete.
   * @throws the reason when they cannot be read
   */
  contents(): Promise<StoreContents>;
  /**
   * All objects, by namespace and name, read with turns for others in between.
   * @throws the reason when they cannot be read
   */
  all(): Promise<readonly JsonObject[]>;
}

/** All stores of a cluster: watched by this process, or by another one for several. */
export interface ObjectStores {
  /** Number of stores. */
  readonly size: number;
  /** The store of a list. */
  of(resource: ApiResource, scope: StoreScope): ObjectStore;
  /** The store in which an object is found by its name. */
  named(resource: ApiResource, namespace: string, name: string): ObjectStore;
  /** Ends all watches. */
  close(): void;
}
