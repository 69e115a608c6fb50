/** Creates the tools of a scan from the settings: the same in every thread. */
import { type CommandIo, say } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { createLoader, type PolicyLoader } from "../../loader/index.js";
import { DEFAULT_POLICY_TIMEOUT_MS, type LoaderSettings } from "../../loader/settings.js";
import { clusterWorld } from "../../world/cluster.js";
import { andThen, type Eventual } from "../../world/eventual.js";
import type { ImageTrust } from "../../world/images/image-trust.js";
import { openHttp } from "../../world/open-external.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import type { ClusterSource, ScanTools } from "./open-scan.js";
import { ScanError } from "./scan-error.js";

/** Advice on registries that do not answer. */
const WITHOUT_REGISTRY = "without a network: --image-layout FOLDER, which pull --with-signatures makes";

/** Tools with their open resources. */
export interface OpenTools extends ScanTools {
  close(): Promise<void>;
}

/**
 * Opens them.
 * @param namespace the namespace of resources in the cluster (`""`: all); absent: from files
 * @throws ScanError without a way to a cluster
 * @throws UsageError for invalid lists of HTTP servers, and folders that are not image layouts
 */
export function scanTools(
  settings: LoaderSettings,
  { stderr }: Pick<CommandIo, "stderr">,
  namespace?: string,
): OpenTools {
  const now = () => performance.now();
  const { imageLayouts = [] } = settings;
  const network = openHttp(settings.egress);
  let made: PolicyLoader | undefined;
  const loader = (): PolicyLoader => {
    made ??= createLoader(namespace === undefined ? settings : { ...settings, ignoreMissingCluster: true });
    return made;
  };
  const isOffline = imageLayouts.length > 0;
  return {
    loader,
    policyTimeout: settings.policyTimeout ?? DEFAULT_POLICY_TIMEOUT_MS,
    http: network.http,
    trust: trustOf(loader, isOffline),
    ...(isOffline && { images: loader().external.images }),
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

/** Signatures of images in registries or layouts; nothing is opened before the first question. */
function trustOf(loader: () => PolicyLoader, isOffline: boolean): ImageTrust {
  const ask = <T>(put: (trust: ImageTrust) => Eventual<T | LookupFailure>): Eventual<T | LookupFailure> => {
    try {
      return andThen(put(loader().external.trust), (answer) => {
        if (!(answer instanceof LookupFailure)) return answer;
        const whole = answer.detail ?? answer.message;
        return new LookupFailure(isOffline ? whole : `${whole} (${WITHOUT_REGISTRY})`);
      });
    } catch (error) {
      // Files of options that nothing needed before.
      return new LookupFailure(errorText(error));
    }
  };
  return {
    digest: (...question) => ask((trust) => trust.digest(...question)),
    verdict: (...question) => ask((trust) => trust.verdict(...question)),
    artifact: (...question) => ask((trust) => trust.artifact(...question)),
  };
}

/** The cluster of resources and of policies' look-ups. */
function clusterOf(loader: PolicyLoader, namespace: string, now: () => number): ClusterSource {
  const { access, cluster: client, external } = loader;
  if (client !== undefined) return { client, namespace, world: clusterWorld(client, now), external };
  loader.close();
  throw new ScanError(access !== undefined && "missing" in access ? access.missing : "there is no way to a cluster");
}
