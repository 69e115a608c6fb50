/** Which cluster a command works with: none unless it is asked for, and `serve` always asks (spec kubewarden.md 2). */
import { type ClusterAccess, findCluster } from "../loader/index.js";
import { type CommandIo, say } from "./io.js";

/** How a server without a cluster ends, or begins: the words of spec kubewarden.md 2. */
export const NO_KUBERNETES = "Cannot connect to Kubernetes, context aware policies would not work properly";

/**
 * The cluster of the options `kubernetes`, `kubeconfig` and `ignore-kubernetes-connection-failure`; undefined when none is wanted.
 * @throws an error that names the file when `--kubeconfig` cannot be used and that isn't to be ignored
 */
export function clusterAccess(
  values: Readonly<Record<string, unknown>>,
  env: CommandIo["env"],
): ClusterAccess | undefined {
  const kubeconfig = typeof values.kubeconfig === "string" ? values.kubeconfig : undefined;
  if (values.kubernetes !== true && kubeconfig === undefined) return undefined;
  const access = findCluster({ env, now: () => performance.now(), ...(kubeconfig !== undefined && { kubeconfig }) });
  const ignored = values.ignoreKubernetesConnectionFailure === true;
  if (!("missing" in access)) return access;
  if (kubeconfig !== undefined && !ignored) throw new Error(`${NO_KUBERNETES}: ${access.missing}`);
  return access;
}

/** Why policies that need a cluster can't be served. */
export interface ClusterProblem {
  /** Why no cluster is found. */
  readonly why: string;
  /** The same with who needs one, and what starts a server all the same. */
  readonly refusal: string;
}

/** Whether policies that need a cluster can't be served; undefined when nothing is in the way. */
export function clusterProblem(
  access: ClusterAccess | undefined,
  needing: readonly string[],
  values: Readonly<Record<string, unknown>>,
): ClusterProblem | undefined {
  if (access === undefined || !("missing" in access) || needing.length === 0) return undefined;
  if (values.ignoreKubernetesConnectionFailure === true) return undefined;
  const why = `${NO_KUBERNETES}: ${access.missing}`;
  const all = `needed by ${needing.join(", ")}; --ignore-kubernetes-connection-failure starts all the same`;
  return { why, refusal: `${why} (${all})` };
}

/** Says on stderr that a server goes without a cluster because it was told to. */
export function noteIgnoredFailure(values: Readonly<Record<string, unknown>>, { env, stderr }: CommandIo): void {
  if (values.ignoreKubernetesConnectionFailure !== true) return;
  const access = clusterAccess(values, env);
  if (access !== undefined && "missing" in access) say(stderr, `${NO_KUBERNETES}: ${access.missing}`);
}
