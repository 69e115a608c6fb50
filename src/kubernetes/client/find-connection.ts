/** Finds the cluster of this process: kubeconfig files first, then the pod's service account, as Kubewarden's server does. */
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Connection } from "./connection.js";
import { ClusterConfigError } from "./errors.js";
import { fileIdentity } from "./identity-files.js";
import { fromKubeconfig } from "./kubeconfig.js";

// The connection to the cluster that this process runs in: by a pod's service account.

/** Where Kubernetes mounts a pod's service account. */
const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The connection of a pod; or why there is none.
 * @param now monotonic milliseconds
 */
function inCluster(
  env: Readonly<Record<string, string | undefined>>,
  now: () => number,
  folder: string = SERVICE_ACCOUNT_FOLDER,
): Connection | { readonly missing: string } {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) return { missing: "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set" };
  const [token, ca] = [join(folder, "token"), join(folder, "ca.crt")];
  const absent = [token, ca].find((file) => !existsSync(file));
  if (absent !== undefined) return { missing: `there is no ${absent}` };
  const address = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(address)) return { missing: `${address} is not an address` };
  return {
    server: new URL(address),
    insecure: false,
    headers: {},
    origin: "the pod's service account",
    ...fileIdentity({ token, ca }, {}, now),
  };
}

/** The namespace of a server that runs in no pod, where nothing else names one. */
export const DEFAULT_NAMESPACE = "policy-server";

/** The namespace of this process' pod; undefined outside of one. */
export function podNamespace(): string | undefined {
  try {
    return readFileSync(join(SERVICE_ACCOUNT_FOLDER, "namespace"), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The places of the search. */
export interface ConnectionSearch {
  /** A file that the operator has named: then nothing else is tried. */
  readonly kubeconfig?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Folder of the service account; default: where Kubernetes mounts it. */
  readonly serviceAccount?: string;
}

/**
 * Finds the connection to a cluster. No request is sent.
 * @throws ClusterConfigError when there is none; it names the places of the search
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
