/** The agent of `serve --from-cluster`. */
import { SYSTEM_CLOCK } from "../data/clock.js";
import { type Connection, openCluster } from "../kubernetes/client/index.js";
import type { Logger } from "../telemetry/logger.js";
import { Agent } from "./agent.js";
import { AuditPart } from "./audit/audit-part.js";
import { forkAuditor } from "./audit/fork-auditor.js";
import type { CertificatePair, SecuredServing } from "./certificates/certificates.js";
import { certificatesOf } from "./certificates/index.js";
import { PolicyEvents } from "./events/policy-events.js";
import type { AgentMetrics } from "./metrics.js";
import type { ClusterPart, PartContext, PartFactory } from "./part.js";
import type { Serving } from "./serving.js";
import type { ClusterSettings } from "./settings.js";
import { PolicyStatuses } from "./status/policy-statuses.js";
import { setsOf, WebhookPart } from "./webhooks/part.js";

export type { Agent } from "./agent.js";

/** What the agent is given by the process that it runs in. */
export interface StartOptions {
  readonly connection: Connection;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly settings: ClusterSettings;
  readonly serving: Serving & SecuredServing;
}

/** What an agent does besides having policies served. */
function partsFor({ settings, serving }: StartOptions): readonly PartFactory[] {
  let webhooks: WebhookPart | undefined;
  // Until they are written, nobody can say that webhooks trust a new authority.
  const bundleInForce = (bundle: string): boolean => webhooks?.written === bundle;
  const links = { use: (pair: CertificatePair) => serving.secure(pair) };
  return [
    (context) => {
      const certificates = certificatesOf(context, { ...links, ...(settings.manageWebhooks && { bundleInForce }) });
      if (settings.manageWebhooks) webhooks = new WebhookPart(context, certificates);
      return certificates;
    },
    () => webhooks ?? NOTHING,
    (context) => new PolicyStatuses(context),
    ...(settings.auditInterval > 0
      ? [(context: PartContext) => new AuditPart(context, forkAuditor, () => serving.evaluations)]
      : []),
    ...(settings.events ? [(context: PartContext) => new PolicyEvents(context)] : []),
  ];
}

/** In place of a part that is not wanted. */
const NOTHING: ClusterPart = { stop: async () => {} };

/** Starts the agent. Nothing is waited for: while the API server is away, it is not ready. */
export function startAgent(options: StartOptions): Agent {
  const { connection, log, metrics, settings, serving } = options;
  const { now } = SYSTEM_CLOCK;
  // What hinders a watch is noise while it is tried again; that the API server is away is said once, by the agent.
  const open = () => openCluster({ connection, now, note: (message) => log.debug(message) });
  return new Agent({
    ...{ cluster: open(), elections: open(), log, metrics, settings, serving },
    clock: SYSTEM_CLOCK,
    random: Math.random,
    parts: partsFor(options),
    ...(settings.manageWebhooks && { setsOf: setsOf(settings) }),
  });
}
