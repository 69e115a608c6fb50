/** Creates the tools of a scan from the settings: the same in every thread. */
import { type CommandIo, say } from "../../data/command-io.js";
import { createLoader, type PolicyLoader } from "../../loader/index.js";
import { DEFAULT_POLICY_TIMEOUT_MS, type LoaderSettings } from "../../loader/settings.js";
import { clusterWorld } from "../../world/cluster.js";
import { openHttp } from "../../world/open-external.js";
import type { ClusterSource, ScanTools } from "./open-scan.js";
import { ScanError } from "./scan-error.js";

/** Tools with their open resources. */
export interface OpenTools extends ScanTools {
  close(): Promise<void>;
}

/**
 * Opens them.
 * @param namespace the namespace of resources in the cluster (`""`: all); absent: from files
 * @throws ScanError without a way to a cluster
 * @throws UsageError for invalid lists of HTTP servers
 */
export function scanTools(
  settings: LoaderSettings,
  { stderr }: Pick<CommandIo, "stderr">,
  namespace?: string,
): OpenTools {
  const now = () => performance.now();
  const network = openHttp(settings.egress);
  let made: PolicyLoader | undefined;
  const loader = (): PolicyLoader => {
    made ??= createLoader(namespace === undefined ? settings : { ...settings, ignoreMissingCluster: true });
    return made;
  };
  return {
    loader,
    policyTimeout: settings.policyTimeout ?? DEFAULT_POLICY_TIMEOUT_MS,
    http: network.http,
    ...(namespace !== undefined && { cluster: clusterOf(loader(), namespace, now) }),
    onDefect: (policy, error) => say(stderr, `warning: ${policy}: ${String(error)}`),
    now,
    date: () => Date.now(),
    async close() {
      made?.close();
      await network.close();
    },
  };
}

/** The cluster of resources and of policies' look-ups. */
function clusterOf(loader: PolicyLoader, namespace: string, now: () => number): ClusterSource {
  const { access, cluster: client, external } = loader;
  if (client !== undefined) return { client, namespace, world: clusterWorld(client, now), external };
  loader.close();
  throw new ScanError(access !== undefined && "missing" in access ? access.missing : "there is no way to a cluster");
}
