/** The agent of `serve --from-cluster`. */
import { SYSTEM_CLOCK } from "../data/clock.js";
import { type Connection, openCluster } from "../kubernetes/client/index.js";
import type { Logger } from "../telemetry/logger.js";
import { Agent } from "./agent.js";
import { AuditPart, type AuditSurroundings } from "./audit/audit-part.js";
import { forkAuditor } from "./audit/fork-auditor.js";
import { PolicyEvents } from "./events/policy-events.js";
import type { AgentMetrics } from "./metrics.js";
import type { PartContext, PartFactory } from "./part.js";
import type { Serving } from "./serving.js";
import type { ClusterSettings } from "./settings.js";
import { PolicyStatuses } from "./status/policy-statuses.js";

export type { Agent } from "./agent.js";
export type { AuditSurroundings } from "./audit/audit-part.js";

/** What the agent is given by the process that it runs in. */
export interface StartOptions {
  readonly connection: Connection;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly settings: ClusterSettings;
  readonly serving: Serving;
  readonly audit: AuditSurroundings;
}

/** What an agent does besides having policies served: a line each. */
const partsFor = (settings: ClusterSettings, audit: AuditSurroundings): readonly PartFactory[] => [
  (context) => new PolicyStatuses(context),
  ...(settings.auditInterval > 0 ? [(context: PartContext) => new AuditPart(context, forkAuditor, audit)] : []),
  ...(settings.events ? [(context: PartContext) => new PolicyEvents(context)] : []),
];

/** Starts the agent. Nothing is waited for: while the API server is away, it is not ready. */
export function startAgent({ connection, log, metrics, settings, serving, audit }: StartOptions): Agent {
  const { now } = SYSTEM_CLOCK;
  // What hinders a watch is noise while it is tried again; that the API server is away is said once, by the agent.
  const open = () => openCluster({ connection, now, note: (message) => log.debug(message) });
  return new Agent({
    ...{ cluster: open(), elections: open(), log, metrics, settings, serving },
    clock: SYSTEM_CLOCK,
    random: Math.random,
    parts: partsFor(settings, audit),
  });
}
