/** Which cluster we belong to: kubeconfig files first, then the pod's service account, as Kubewarden's server finds it. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Connection } from "./connection.js";
import { ClusterConfigError } from "./errors.js";
import { inCluster } from "./in-cluster.js";
import { fromKubeconfig } from "./kubeconfig.js";

/** Where to look. */
export interface ConnectionSearch {
  /** A file that somebody has named: then nothing else is looked at. */
  readonly kubeconfig?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Folder of the service account; default: where Kubernetes mounts it. */
  readonly serviceAccount?: string;
}

/**
 * Finds the way to a cluster. The cluster is not asked anything.
 * @throws ClusterConfigError when there is no way; it says where was looked
 */
export function findConnection({ kubeconfig, env, now, serviceAccount }: ConnectionSearch): Connection {
  if (kubeconfig !== undefined) return fromKubeconfig([kubeconfig], now);
  const why: string[] = [];
  const files = kubeconfigFiles(env);
  if (files.length === 0) why.push("no kubeconfig file");
  else {
    try {
      return fromKubeconfig(files, now);
    } catch (error) {
      if (!(error instanceof ClusterConfigError)) throw error;
      why.push(error.message);
    }
  }
  const found = inCluster(env, now, serviceAccount);
  if (!("missing" in found)) return found;
  throw new ClusterConfigError(`${why.join("; ")}; not in a cluster: ${found.missing}`);
}

/** The files of `$KUBECONFIG` that exist, else the one in the home folder if it does. */
function kubeconfigFiles({ KUBECONFIG, HOME }: ConnectionSearch["env"]): readonly string[] {
  const named = KUBECONFIG?.split(delimiter).filter((file) => file !== "") ?? [];
  const candidates = named.length > 0 ? named : HOME ? [join(HOME, ".kube", "config")] : [];
  return candidates.filter((file) => existsSync(file));
}
