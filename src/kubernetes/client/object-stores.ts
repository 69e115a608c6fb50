import type { JsonObject } from "../object.js";
import type { ApiResource } from "./discovery.js";
import type { StoredItems } from "./stored-items.js";

/** Which objects of a resource. */
export interface StoreScope {
  /** `""`: all namespaces, or none. */
  readonly namespace: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** What a store holds. */
export type StoreContents = Pick<StoredItems, "get" | "all" | "isRead" | "readAll" | "texts">;

/** The objects of a list, or one object, kept fresh. */
export interface ObjectStore {
  /** What it holds; `undefined` until that is there. */
  readonly items: StoreContents | undefined;
  /** The state that it shows, as a resourceVersion. */
  readonly version: string;
  /** When it was first asked for, in monotonic milliseconds. */
  readonly since: number;
  /** Settles when what it holds is there; rejects with the reason when it cannot be had. */
  readonly ready: Promise<void>;
  /** Why what it holds should not be believed. */
  problem(): Error | undefined;
  /**
   * What it holds, when that is there.
   * @throws why it cannot be had
   */
  contents(): Promise<StoreContents>;
  /**
   * All objects, by namespace and name, read with turns for others in between.
   * @throws why they cannot be had
   */
  all(): Promise<readonly JsonObject[]>;
}

/** All stores of a cluster: watched by this process, or by another one for several. */
export interface ObjectStores {
  /** How many there are. */
  readonly size: number;
  /** The store of a list. */
  of(resource: ApiResource, scope: StoreScope): ObjectStore;
  /** The store in which an object is found by its name. */
  named(resource: ApiResource, namespace: string, name: string): ObjectStore;
  /** Ends all watches. */
  close(): void;
}
