/** `serve --from-cluster`: the agent beside the serving processes. Its code is loaded with the flag only. */
import type { SecuredServing } from "../cluster/certificates/certificates.js";
import type { Agent } from "../cluster/index.js";
import type { AgentMetrics } from "../cluster/metrics.js";
import type { Serving } from "../cluster/serving.js";
import { clusterAccess } from "../loader/cluster-access.js";
import type { Logger } from "../telemetry/logger.js";
import type { ServeSettings } from "./settings.js";
import type { KeptModules } from "./shared-modules.js";
import { StartError } from "./start-problem.js";

/** Starts the agent for the serving processes. */
export type AgentStart = (serving: Serving & SecuredServing, metrics: AgentMetrics) => Agent;

/**
 * Loads the agent's code, when the settings want an agent and there is a cluster.
 * @param attend serves shared state to a process that the agent starts
 * @returns undefined without the flag, and when a missing cluster is to be ignored
 * @throws StartError when there is no cluster
 */
export async function agentStart(
  { cluster: settings, loading }: ServeSettings,
  logger: Logger,
  attend: KeptModules["attend"],
): Promise<AgentStart | undefined> {
  if (settings === undefined) return undefined;
  const access = clusterAccess(loading);
  const log = logger.named("cluster");
  if (access === undefined || "missing" in access) {
    const missing = access?.missing ?? "none is configured";
    if (!loading.ignoreMissingCluster) throw new StartError(`--from-cluster needs a cluster: ${missing}`);
    log.error("--from-cluster has no cluster: only the policies file is served", { reason: missing });
    return undefined;
  }
  const { startAgent } = await import("../cluster/index.js");
  return (serving, metrics) => startAgent({ connection: access.connection, log, metrics, settings, serving, attend });
}
