/** The cluster in which policies look things up. */
import {
  type Cluster,
  ClusterConfigError,
  type Connection,
  type ConnectionSearch,
  findConnection,
  openCluster,
  type WatchNote,
} from "../kubernetes/client/index.js";
import type { StoreChannel } from "../kubernetes/client/shared/mirrored-stores.js";
import { NO_CLIENT } from "../kubernetes/reader.js";
import { NO_OPINION, OUT_OF_REACH } from "./authorizer/authorizer.js";
import { ClusterAuthorizer } from "./authorizer/cluster-authorizer.js";
import { within } from "./eventual.js";
import type { ExternalData } from "./external.js";
import { ClusterMergeTypes } from "./merge-types.js";
import type { Needs } from "./needs.js";
import { ClusterResources } from "./resources/cluster-resources.js";
import { LookupFailure } from "./resources/resource-source.js";
import type { OuterWorld, World } from "./world.js";

/** The connection to a cluster, or why there is none. */
export type ClusterAccess =
  | { readonly connection: Connection; readonly shared?: StoreChannel }
  | { readonly missing: string };

/** Finds the connection to a cluster; no request is sent. */
export function findCluster(search: ConnectionSearch): ClusterAccess {
  try {
    return { connection: findConnection(search) };
  } catch (error) {
    if (error instanceof ClusterConfigError) return { missing: error.message };
    throw error;
  }
}

/** The client of a cluster; undefined where there is none. */
export function openAccess(access: ClusterAccess | undefined, now: () => number, note: WatchNote): Cluster | undefined {
  return access === undefined || "missing" in access
    ? undefined
    : openCluster({ connection: access.connection, now, note, ...(access.shared && { shared: access.shared }) });
}

/** The world of policies in a cluster. @param waitMs how long they wait for an object; default as long as Kubernetes waits for parameters */
export const clusterWorld = (cluster: Cluster, now: () => number, waitMs?: number): World => ({
  resources: new ClusterResources(cluster, waitMs),
  authorizer: new ClusterAuthorizer(cluster.http, now, cluster.signal),
  mergeTypes: new ClusterMergeTypes(cluster),
  now,
});

const fail = () => new LookupFailure(NO_CLIENT);

/** Stands in for a missing cluster: every question fails, so that nothing is allowed by mistake. */
const NO_CLUSTER: Pick<World, "resources" | "authorizer"> = {
  resources: {
    namespace: fail,
    get: fail,
    list: fail,
    namespaced: fail,
    // Not known: the policy says what is missing.
    equivalents: () => undefined,
    convert: fail,
  },
  authorizer: OUT_OF_REACH,
};

/**
 * The world behind a policy's documents. A policy that asks no cluster does not depend on one, except for the versions of resources that its rules
 * name in others; one that can do without a missing cluster does.
 * @param missing a cluster was wanted, but there is none
 * @param external the sources that expressions may ask themselves, whatever the policy needs
 */
export function outerWorldFor(
  { asks, requires }: Needs,
  cluster: World | undefined,
  missing: boolean,
  now: () => number,
  external?: ExternalData,
): OuterWorld {
  const common = external === undefined ? { now } : { now, external };
  if (cluster !== undefined) {
    const { resources, authorizer, mergeTypes } = cluster;
    const types = mergeTypes === undefined ? {} : { mergeTypes };
    return asks
      ? { resources, versions: resources, authorizer, ...types, ...common }
      : { versions: resources, authorizer: NO_OPINION, ...types, ...common };
  }
  if (missing && requires.length > 0) return { ...NO_CLUSTER, ...common };
  return { authorizer: NO_OPINION, ...common };
}

/** How long loading waits for a cluster's first answers: requests wait for later ones. */
const WARM_UP_MS = 2_000;

/** Loads what a policy's first requests would wait for: the connection, Namespaces, parameters. */
export async function warmUp(
  { resources }: Pick<World, "resources">,
  { parameters, namedParameters = [] }: Pick<Needs, "parameters" | "namedParameters">,
): Promise<void> {
  const answers = Promise.all([
    resources.namespace("default"),
    ...parameters.map((kind) => resources.list(kind, "")),
    // Without a namespace it may be that of a request, which is not known: the first request would ask for the scope.
    ...namedParameters.map(({ kind, namespace, name }) =>
      namespace === "" ? resources.namespaced(kind) : resources.get(kind, namespace, name),
    ),
  ]);
  await within(answers, WARM_UP_MS);
}
