/** The Kubernetes client: one cluster, as guests and as policies see it. */
import type { Authorizer } from "../../world/authorizer/authorizer.js";
import { ClusterResources } from "../../world/resources/cluster-resources.js";
import type { ResourceSource } from "../../world/resources/resource-source.js";
import type { KubernetesReader } from "../reader.js";
import { ClusterAuthorizer } from "./access-review.js";
import { ClusterReader } from "./cluster-reader.js";
import type { Connection } from "./connection.js";
import { Discovery } from "./discovery.js";
import { ClusterHttp } from "./http.js";
import { MAX_STORES } from "./limits.js";
import { WatchStores } from "./watch-stores.js";
import { WATCH_TIMING, type WatchTiming } from "./watch-timing.js";

export type { Connection } from "./connection.js";
export { ClusterConfigError } from "./errors.js";
export { type ConnectionSearch, findConnection } from "./find-connection.js";

/** How to talk to a cluster. */
export interface ClusterOptions {
  readonly connection: Connection;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Told what hinders watches. */
  readonly note: (message: string) => void;
  /** Default: for real clusters. */
  readonly timing?: WatchTiming;
  /** Most stores; default {@link MAX_STORES}. */
  readonly maxStores?: number;
}

/** A cluster. Nothing is asked of it before somebody asks something. */
export interface Cluster {
  readonly reader: KubernetesReader;
  readonly resources: ResourceSource;
  readonly authorizer: Authorizer;
  /** How many lists are being watched. */
  readonly stores: number;
  /** Ends watches and connections. */
  close(): Promise<void>;
}

/** Makes a client. */
export function openCluster({ connection, now, note, timing, maxStores }: ClusterOptions): Cluster {
  const ended = new AbortController();
  const http = new ClusterHttp(connection);
  const discovery = new Discovery(http, now);
  const stores = new WatchStores(http, { max: maxStores ?? MAX_STORES, timing: timing ?? WATCH_TIMING, now, note });
  return {
    reader: new ClusterReader(http, discovery, stores),
    resources: new ClusterResources({ http, discovery, stores, now, signal: ended.signal }),
    authorizer: new ClusterAuthorizer(http, now, ended.signal),
    get stores() {
      return stores.size;
    },
    async close() {
      ended.abort();
      discovery.close();
      stores.close();
      await http.close();
    },
  };
}
