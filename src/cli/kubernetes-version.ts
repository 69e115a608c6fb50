import { UsageError } from "../data/command-io.js";
import {
  behaviourOf,
  isSince,
  KUBERNETES_VERSIONS,
  type KubernetesVersion,
  NEWEST_VERSION,
} from "../data/kubernetes-version.js";

/** The oldest Kubernetes whose rules about policies are known. */
const OLDEST_VERSION: KubernetesVersion = "1.28";
/** All whose rules are. */
export const KNOWN_VERSIONS = KUBERNETES_VERSIONS.filter((version) => isSince(version, OLDEST_VERSION));

/**
 * Parses a version of Kubernetes: `1.34`, `v1.34`, `v1.34.2`. Patch numbers are ignored.
 * @throws UsageError for an unknown one
 */
export function kubernetesVersion(text: string, option = "--kubernetes-version"): KubernetesVersion {
  const minor = /^v?(\d+\.\d+)(?:\.\d+.*)?$/.exec(text)?.[1];
  const version = KNOWN_VERSIONS.find((each) => each === minor);
  if (version !== undefined) return version;
  const known = `known are ${OLDEST_VERSION} to ${KUBERNETES_VERSIONS.at(-1)}`;
  throw new UsageError(`option '${option} <version>': there are no rules of ${JSON.stringify(text)}: ${known}`);
}

/**
 * Parses the release of `--upgrade`, which must be newer than the one that decides without it.
 * @throws UsageError
 */
export function upgradeVersion(text: string, from: KubernetesVersion = NEWEST_VERSION): KubernetesVersion {
  const version = kubernetesVersion(text, "--upgrade");
  if (behaviourOf(version) !== behaviourOf(from)) return version;
  throw new UsageError(
    `option '--upgrade <version>': Kubernetes ${version} decides everything as ${from}: decisions change with ${KUBERNETES_VERSIONS.find((each) => behaviourOf(each) !== "1.37")}`,
  );
}
