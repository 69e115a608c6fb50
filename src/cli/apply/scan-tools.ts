/** What a scan needs of its surroundings, made of the settings: the same in every thread. */
import { type CommandIo, say } from "../../data/command-io.js";
import { createImageMetadata } from "../../fetch/index.js";
import { fetchOptions } from "../../loader/fetch-options.js";
import { createLoader, type PolicyLoader } from "../../loader/index.js";
import { DEFAULT_POLICY_TIMEOUT_MS, type LoaderSettings } from "../../loader/settings.js";
import type { ClusterSource, ScanTools } from "../../offline/scan/open-scan.js";
import { ScanError } from "../../offline/scan/scan-error.js";
import { clusterWorld, findCluster, openAccess } from "../../world/cluster.js";
import { addressGuard, openExternal, openHttp } from "../../world/open-external.js";

/** Tools with what they hold open. */
export interface OpenTools extends ScanTools {
  close(): Promise<void>;
}

/**
 * Opens them.
 * @param namespace take resources from the cluster, of this namespace (`""`: of all); absent: from files
 * @throws ScanError where there is no way to a cluster
 * @throws UsageError for lists of HTTP servers that can't be read
 */
export function scanTools(
  settings: LoaderSettings,
  { stderr }: Pick<CommandIo, "stderr">,
  namespace?: string,
): OpenTools {
  const now = () => performance.now();
  const network = openHttp(settings.egress);
  const cluster = namespace === undefined ? undefined : openedCluster(settings, namespace, now);
  let loader: PolicyLoader | undefined;
  return {
    loader: () => {
      loader ??= createLoader(settings);
      return loader;
    },
    policyTimeout: settings.policyTimeout ?? DEFAULT_POLICY_TIMEOUT_MS,
    http: network.http,
    ...(cluster && { cluster: cluster.source }),
    onDefect: (policy, error) => say(stderr, `warning: ${policy}: ${String(error)}`),
    now,
    async close() {
      loader?.close();
      await network.close();
      await cluster?.close();
    },
  };
}

/** The cluster whose resources are judged, and which policies ask. */
function openedCluster(
  settings: LoaderSettings,
  namespace: string,
  now: () => number,
): { readonly source: ClusterSource; close(): Promise<void> } {
  const { kubeconfig, egress = {}, environment: env = {} } = settings;
  const access = findCluster({ env, now, ...(kubeconfig !== undefined && { kubeconfig }) });
  if ("missing" in access) throw new ScanError(access.missing);
  const client = openAccess(access, now, () => {});
  if (client === undefined) throw new ScanError("there is no way to a cluster");
  const { images, close } = createImageMetadata(fetchOptions(settings), addressGuard(egress));
  const external = openExternal({
    egress,
    readImage: (reference, signal) => images.read(reference, signal),
    cluster: client,
    now,
  });
  return {
    source: { client, namespace, world: clusterWorld(client, now), external: external.data },
    async close() {
      await external.close();
      await close();
      await client.close();
    },
  };
}
