/** What a scan needs of its surroundings, made from the command line: the same in every thread. */
import { ImageMetadata, openRegistries } from "../../fetch/index.js";
import { findCluster, type PolicyLoader } from "../../loader/index.js";
import type { ClusterSource, ScanTools } from "../../offline/scan/open-scan.js";
import { ScanError } from "../../offline/scan/scan-error.js";
import { clusterWorld, openAccess } from "../../world/cluster.js";
import { addressGuard, openExternal } from "../../world/open-external.js";
import { openNetwork, withEgress } from "../egress-options.js";
import { fetchOptions } from "../fetch-options.js";
import { type CommandIo, say } from "../io.js";
import { createLoader } from "../load.js";

type Values = Readonly<Record<string, unknown>>;

/** Tools with what they hold open. */
export interface OpenTools extends ScanTools {
  close(): Promise<void>;
}

/**
 * @param values of the options of loading
 * @param namespace take resources from the cluster, of this namespace (`""`: of all); absent: from files
 * @throws ScanError where there is no way to a cluster
 * @throws UsageError for lists of HTTP servers that can't be read
 */
export function scanTools(
  values: Values,
  { env, stderr }: Pick<CommandIo, "env" | "stderr">,
  namespace?: string,
): OpenTools {
  const now = () => performance.now();
  const network = openNetwork(values);
  const cluster = namespace === undefined ? undefined : openedCluster(values, env, namespace, now);
  let opened: { readonly policyTimeout: number; readonly loader: PolicyLoader } | undefined;
  const policyTimeout = Number(values.policyTimeout ?? 2) * 1000;
  return {
    loader: () => {
      opened ??= createLoader(values, env);
      return opened.loader;
    },
    policyTimeout: values.disableTimeoutProtection === true ? Number.POSITIVE_INFINITY : policyTimeout,
    http: network.http,
    ...(cluster && { cluster: cluster.source }),
    onDefect: (policy, error) => say(stderr, `warning: ${policy}: ${String(error)}`),
    now,
    async close() {
      opened?.loader.close();
      await network.close();
      await cluster?.close();
    },
  };
}

/** The cluster whose resources are judged, and which policies ask. */
function openedCluster(
  values: Values,
  env: CommandIo["env"],
  namespace: string,
  now: () => number,
): { readonly source: ClusterSource; close(): Promise<void> } {
  const client = clientOf(values, env, now);
  const guard = withEgress(values, addressGuard);
  const { registry, close } = openRegistries(
    fetchOptions(values, env, () => {}),
    guard,
  );
  const images = new ImageMetadata(registry);
  const external = withEgress(values, (egress) =>
    openExternal({ egress, readImage: (reference, signal) => images.read(reference, signal), cluster: client, now }),
  );
  return {
    source: { client, namespace, world: clusterWorld(client, now), external: external.data },
    async close() {
      await external.close();
      await close();
      await client.close();
    },
  };
}

function clientOf({ kubeconfig }: Values, env: CommandIo["env"], now: () => number) {
  const access = findCluster({ env, now, ...(typeof kubeconfig === "string" && { kubeconfig }) });
  if ("missing" in access) throw new ScanError(access.missing);
  const cluster = openAccess(access, now, () => {});
  if (cluster === undefined) throw new ScanError("there is no way to a cluster");
  return cluster;
}
