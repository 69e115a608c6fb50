/** Chooses the cluster that policies are loaded with: none unless one is asked for, and `serve` always asks (spec kubewarden.md 2). */
import { type CommandIo, say } from "../data/command-io.js";
import { type ClusterAccess, findCluster } from "../world/cluster.js";
import type { LoaderSettings } from "./settings.js";

/** Last message of a server without a cluster, or its first (spec kubewarden.md 2). */
const NO_KUBERNETES = "Cannot connect to Kubernetes, context aware policies would not work properly";

/**
 * The cluster of the settings; undefined when none is wanted.
 * @throws an error that names the file when the kubeconfig cannot be used and that isn't to be ignored
 */
export function clusterAccess(settings: LoaderSettings): ClusterAccess | undefined {
  const { kubernetes = false, kubeconfig, ignoreMissingCluster = false, environment: env = {} } = settings;
  if (!kubernetes && kubeconfig === undefined) return undefined;
  const access = findCluster({ env, now: () => performance.now(), ...(kubeconfig !== undefined && { kubeconfig }) });
  if ("missing" in access && kubeconfig !== undefined && !ignoreMissingCluster)
    throw new Error(`${NO_KUBERNETES}: ${access.missing}`);
  return access;
}

/** The reason why policies that need a cluster can't be served. */
export interface ClusterProblem {
  /** The reason why no cluster is found. */
  readonly why: string;
  /** The same with the policies that need one, and the options that start a server without it. */
  readonly refusal: string;
}

/** Checks whether policies that need a cluster can be served; undefined when they can. */
export function clusterProblem(
  access: ClusterAccess | undefined,
  needing: readonly string[],
  { ignoreMissingCluster }: LoaderSettings,
): ClusterProblem | undefined {
  if (access === undefined || !("missing" in access) || needing.length === 0 || ignoreMissingCluster) return undefined;
  const why = `${NO_KUBERNETES}: ${access.missing}`;
  const all = `needed by ${needing.join(", ")}; --ignore-kubernetes-connection-failure starts all the same`;
  return { why, refusal: `${why} (${all})` };
}

/** Says on stderr that a server goes without a cluster because it was told to. */
export function noteIgnoredFailure(settings: LoaderSettings, { stderr }: Pick<CommandIo, "stderr">): void {
  if (!settings.ignoreMissingCluster) return;
  const access = clusterAccess(settings);
  if (access !== undefined && "missing" in access) say(stderr, `${NO_KUBERNETES}: ${access.missing}`);
}
