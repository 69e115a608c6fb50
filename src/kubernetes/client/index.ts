/** The Kubernetes client: one cluster. */
import type { KubernetesReader } from "../reader.js";
import type { ByteLog } from "./byte-log.js";
import { clusterReader } from "./cluster-reader.js";
import type { Connection } from "./connection.js";
import { Definitions } from "./definitions.js";
import { type ApiResource, Discovery } from "./discovery.js";
import { ClusterHttp } from "./http.js";
import { MAX_STORES } from "./limits.js";
import type { ObjectStores } from "./object-stores.js";
import { MirroredStores, type StoreChannel } from "./shared/mirrored-stores.js";
import { WatchStores } from "./watch-stores.js";
import { WATCH_TIMING, type WatchTiming } from "./watch-timing.js";
import { type ListOptions, type ListTarget, WatchedList, type WatchNote, type WatchOptions } from "./watched-list.js";

export type { Connection } from "./connection.js";
export { ClusterConfigError } from "./errors.js";
export { type ConnectionSearch, DEFAULT_NAMESPACE, findConnection, podNamespace } from "./find-connection.js";
export type { WatchNote } from "./watched-list.js";

/** How to reach a cluster. */
export interface ClusterOptions {
  readonly connection: Connection;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly note: WatchNote;
  /** Default: for real clusters. */
  readonly timing?: WatchTiming;
  /** Where another process watches lists for several; default: this process watches them. */
  readonly shared?: StoreChannel;
  /** Most stores; default {@link MAX_STORES}. */
  readonly maxStores?: number;
}

/** A cluster. No request is sent before one is needed. */
export interface Cluster {
  /** The cluster as guests see it. */
  readonly reader: KubernetesReader;
  readonly http: ClusterHttp;
  readonly discovery: Discovery;
  /** Changes of CustomResourceDefinitions, where they may be watched. */
  readonly definitions: Definitions;
  /** The lists that are being watched. */
  readonly stores: ObjectStores;
  /** Follows a list for a caller that receives its changes: the list belongs to that caller, and ends when the caller stops it. */
  follow<T extends ListTarget>(options: Omit<ListOptions<T>, keyof WatchOptions>): WatchedList<T>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Aborted when the client is closed. */
  readonly signal: AbortSignal;
  /** Ends watches and connections. */
  close(): Promise<void>;
}

/** Makes a client. */
export function openCluster(options: ClusterOptions): Cluster {
  const { connection, now, note, timing = WATCH_TIMING, maxStores = MAX_STORES } = options;
  const ended = new AbortController();
  const http = new ClusterHttp(connection);
  const watching: WatchOptions = { timing, now, note };
  const follow: Cluster["follow"] = (options) => new WatchedList(http, { ...options, ...watching });
  // Where definitions may not be watched they are asked for more often, which needs no message.
  const definitions = new Definitions(
    (options) => new WatchedList(http, { ...options, ...watching, note: () => {} }),
    now,
  );
  const discovery = new Discovery(http, definitions, now);
  const gone = (resource: ApiResource): void => discovery.forget(resource);
  const stores =
    options.shared === undefined
      ? new WatchStores(http, { max: maxStores, gone }, watching)
      : new MirroredStores(options.shared, { max: maxStores, gone }, now);
  return {
    reader: clusterReader(http, discovery, stores),
    http,
    discovery,
    definitions,
    stores,
    follow,
    now,
    signal: ended.signal,
    async close() {
      ended.abort();
      definitions.close();
      discovery.close();
      stores.close();
      await http.close();
    },
  };
}

/** The lists that one process watches for others. */
export function watchedStores(
  options: Pick<ClusterOptions, "connection" | "now" | "note"> & { readonly newLog: () => ByteLog },
): { readonly stores: WatchStores; close(): Promise<void> } {
  const { connection, now, note, newLog } = options;
  const http = new ClusterHttp(connection);
  const stores = new WatchStores(http, { max: MAX_STORES, newLog }, { timing: WATCH_TIMING, now, note });
  return {
    stores,
    async close() {
      stores.close();
      await http.close();
    },
  };
}
