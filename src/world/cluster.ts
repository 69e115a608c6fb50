/** The cluster that a loader's policies look things up in. */
import { setTimeout as delay } from "node:timers/promises";
import {
  type Cluster,
  ClusterConfigError,
  type Connection,
  type ConnectionSearch,
  findConnection,
  openCluster,
} from "../kubernetes/client/index.js";
import type { GroupVersionKind } from "../kubernetes/names.js";
import { NO_OPINION } from "./authorizer/authorizer.js";
import type { Needs } from "./needs.js";
import { NO_CLUSTER_AUTHORIZER, NO_CLUSTER_RESOURCES } from "./no-cluster.js";
import { Pending } from "./resources/resource-source.js";
import type { World } from "./world.js";

/** The way to a cluster, or why there is none. */
export type ClusterAccess = { readonly connection: Connection } | { readonly missing: string };

/** Looks for the way to a cluster; the cluster itself is not asked anything. */
export function findCluster(search: ConnectionSearch): ClusterAccess {
  try {
    return { connection: findConnection(search) };
  } catch (error) {
    if (error instanceof ClusterConfigError) return { missing: error.message };
    throw error;
  }
}

/** How long loading waits for a cluster's first answers: those that come later are waited for by requests. */
const WARM_UP_MS = 2_000;

/** Lets policies find in place what their first requests would wait for: the connection, Namespaces, parameters. */
export async function warmUp({ resources }: Cluster, kinds: readonly GroupVersionKind[]): Promise<void> {
  let late = false;
  const filled = async (ask: () => unknown): Promise<void> => {
    for (let found = ask(); found instanceof Pending && !late; found = ask()) await found.ready;
  };
  const questions = [() => resources.namespace("default"), ...kinds.map((kind) => () => resources.list(kind, ""))];
  const over = new AbortController();
  const limit = delay(WARM_UP_MS, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([Promise.all(questions.map(filled)), limit]);
  late = true;
  over.abort();
}

/** The client of a cluster; undefined where there is none. */
export function openAccess(
  access: ClusterAccess | undefined,
  now: () => number,
  note: (message: string) => void,
): Cluster | undefined {
  return access === undefined || "missing" in access
    ? undefined
    : openCluster({ connection: access.connection, now, note });
}

/**
 * What a policy sees of the world. Who does not ask a cluster does not depend on one, but for the versions of resources that its rules name in
 * others; who can do without one that is missing does.
 */
export function worldOf(
  access: ClusterAccess | undefined,
  cluster: Cluster | undefined,
  { asks, requires }: Needs,
  now: () => number,
): World {
  if (cluster !== undefined) {
    const { resources, authorizer } = cluster;
    return asks
      ? { resources, versions: resources, authorizer, now }
      : { versions: resources, authorizer: NO_OPINION, now };
  }
  if (access !== undefined && requires) {
    return { resources: NO_CLUSTER_RESOURCES, authorizer: NO_CLUSTER_AUTHORIZER, now };
  }
  return { authorizer: NO_OPINION, now };
}
