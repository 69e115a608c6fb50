/** What a scan needs of its surroundings, made from the command line: the same in every thread. */
import { findCluster, type PolicyLoader } from "../../loader/index.js";
import type { ScanTools } from "../../scan/open-scan.js";
import { ScanError } from "../../scan/scan-error.js";
import { clusterWorld, openAccess } from "../../world/cluster.js";
import { FixedEntries } from "../../world/entries/fixed-entries.js";
import { ContextImages } from "../../world/images/context-images.js";
import { ClusterObjects } from "../../world/objects/cluster-objects.js";
import { openNetwork } from "../egress-options.js";
import type { CommandIo } from "../io.js";
import { createLoader } from "../load.js";

/** Surroundings, to be closed. */
export interface OpenTools extends ScanTools {
  close(): Promise<void>;
}

/**
 * @param values of the options of loading
 * @param namespace take resources from the cluster, of this namespace (`""`: of all); absent: from files
 * @throws ScanError where there is no way to a cluster
 */
export function scanTools(
  values: Readonly<Record<string, unknown>>,
  env: CommandIo["env"],
  namespace?: string,
): OpenTools {
  const network = openNetwork(values);
  const { http } = network;
  const now = () => performance.now();
  const cluster = namespace === undefined ? undefined : openedCluster(values, env, now);
  let opened: { readonly policyTimeout: number; readonly loader: PolicyLoader } | undefined;
  const policyTimeout = Number(values.policyTimeout ?? 2) * 1000;
  return {
    loader: () => {
      opened ??= createLoader(values, env);
      return opened.loader;
    },
    policyTimeout: values.disableTimeoutProtection === true ? Number.POSITIVE_INFINITY : policyTimeout,
    http,
    ...(cluster !== undefined &&
      namespace !== undefined && {
        cluster: {
          client: cluster,
          namespace,
          world: clusterWorld(cluster, now),
          external: {
            objects: new ClusterObjects(cluster),
            http,
            images: new ContextImages(),
            entries: new FixedEntries(),
          },
        },
      }),
    now,
    async close() {
      opened?.loader.close();
      await network.close();
      await cluster?.close();
    },
  };
}

function openedCluster(
  { kubeconfig }: Readonly<Record<string, unknown>>,
  env: CommandIo["env"],
  now: () => number,
): NonNullable<ReturnType<typeof openAccess>> {
  const access = findCluster({ env, now, ...(typeof kubeconfig === "string" && { kubeconfig }) });
  if ("missing" in access) throw new ScanError(access.missing);
  const cluster = openAccess(access, now, () => {});
  if (cluster === undefined) throw new ScanError("there is no way to a cluster");
  return cluster;
}
