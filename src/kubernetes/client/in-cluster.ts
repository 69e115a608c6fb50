/** The way to the cluster that this process runs in: a pod's service account. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "./connection.js";
import { fileIdentity } from "./identity-files.js";

/** Where Kubernetes mounts a pod's service account. */
const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The connection of a pod; or why this is none.
 * @param now monotonic milliseconds
 */
export function inCluster(
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
  if (!URL.canParse(address)) return { missing: `${address} is no address` };
  return {
    server: new URL(address),
    insecure: false,
    headers: {},
    origin: "the pod's service account",
    ...fileIdentity({ token, ca }, {}, now),
  };
}
