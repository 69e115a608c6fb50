/** The agent of `serve --from-cluster`. */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { SYSTEM_CLOCK } from "../data/clock.js";
import { type Connection, openCluster } from "../kubernetes/client/index.js";
import type { Logger } from "../telemetry/logger.js";
import { Agent } from "./agent.js";
import { AuditPart } from "./audit/audit-part.js";
import { auditorsFor } from "./audit/fork-auditor.js";
import type { CertificatePair, SecuredServing } from "./certificates/certificates.js";
import { certificatesOf } from "./certificates/index.js";
import { PolicyEvents } from "./events/policy-events.js";
import type { AgentMetrics } from "./metrics.js";
import type { ClusterPart, PartContext, PartFactory } from "./part.js";
import type { Serving } from "./serving.js";
import type { ClusterSettings } from "./settings.js";
import { ShadowPart } from "./shadow/shadow-part.js";
import { PolicyStatuses } from "./status/policy-statuses.js";
import type { WebhookDeriver } from "./webhooks/from-documents.js";
import { deriverFor, type WebhookPart, webhookPart } from "./webhooks/part.js";

export type { Agent } from "./agent.js";

/** The inputs of the agent from its process. */
export interface StartOptions {
  readonly connection: Connection;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly settings: ClusterSettings;
  readonly serving: Serving & SecuredServing;
  /** Receives an auditing process when it is started. */
  readonly attend: (auditor: ChildProcess) => void;
}

/** The parts of an agent besides serving policies. */
const partsFor = ({ settings, serving, attend }: StartOptions, deriver: WebhookDeriver): readonly PartFactory[] => [
  (context) => certifiedWebhooks(context, settings, serving, deriver),
  (context) => new PolicyStatuses(context),
  (context) => new ShadowPart({ ...context, source: serving.shadows, instance: randomBytes(4).toString("hex") }),
  ...(settings.auditInterval > 0
    ? [(context: PartContext) => new AuditPart(context, auditorsFor(attend), () => serving.evaluations)]
    : []),
  ...(settings.events ? [(context: PartContext) => new PolicyEvents(context)] : []),
];

/** Certificates, and webhooks that trust them: a new authority signs when they do. */
function certifiedWebhooks(
  context: PartContext,
  { manageWebhooks }: ClusterSettings,
  serving: SecuredServing,
  deriver: WebhookDeriver,
): readonly ClusterPart[] {
  const use = (pair: CertificatePair): Promise<void> => serving.secure(pair);
  if (!manageWebhooks) return [certificatesOf(context, { use })];
  let webhooks: WebhookPart | undefined;
  const bundleInForce = (authorities: readonly string[]): boolean => webhooks?.trusts(authorities) ?? false;
  const certificates = certificatesOf(context, { use, bundleInForce });
  webhooks = webhookPart(context, deriver, certificates);
  return [certificates, webhooks];
}

/** Starts the agent, without waiting: until the API server answers, it is not ready. */
export function startAgent(options: StartOptions): Agent {
  const { connection, log, metrics, settings, serving } = options;
  const { now } = SYSTEM_CLOCK;
  // Failures of a watch are noise while it is retried; the agent logs once that the API server does not answer.
  const open = () => openCluster({ connection, now, note: (message, level) => log.log(level ?? "debug", message) });
  const deriver = deriverFor(settings);
  return new Agent({
    ...{ cluster: open(), elections: open(), log, metrics, settings, serving },
    clock: SYSTEM_CLOCK,
    random: Math.random,
    parts: partsFor(options, deriver),
    setsOf: (documents, refused) => deriver.derive(documents.values(), refused).sets,
  });
}
