/** What stands in for a cluster where there is none: every question fails, so that nothing is allowed by mistake. */
import type { KubernetesReader } from "./reader.js";

/** The words of spec kubewarden.md 7.6. */
export const NO_CLIENT = "kube::Client was not initialized properly";

const refuse = () => Promise.reject(new Error(NO_CLIENT));

/** For guests. */
export const NO_CLUSTER: KubernetesReader = { get: refuse, list: refuse, canI: refuse, snapshot: refuse };
