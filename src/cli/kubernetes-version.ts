import { UsageError } from "../data/command-io.js";
import {
  isKubernetesVersion,
  isSince,
  KUBERNETES_VERSIONS,
  type KubernetesVersion,
} from "../data/kubernetes-version.js";

/** The oldest Kubernetes whose rules about policies are known. */
const OLDEST_VERSION: KubernetesVersion = "1.28";

/**
 * Parses a version of Kubernetes: `1.34`, `v1.34`, `v1.34.2`. Patch numbers are ignored.
 * @throws UsageError for an unknown one
 */
export function kubernetesVersion(text: string): KubernetesVersion {
  const minor = /^v?(\d+\.\d+)(?:\.\d+.*)?$/.exec(text)?.[1] ?? "";
  if (isKubernetesVersion(minor) && isSince(minor, OLDEST_VERSION)) return minor;
  const known = `known are ${OLDEST_VERSION} to ${KUBERNETES_VERSIONS.at(-1)}`;
  throw new UsageError(
    `option '--kubernetes-version <version>': there are no rules of ${JSON.stringify(text)}: ${known}`,
  );
}
