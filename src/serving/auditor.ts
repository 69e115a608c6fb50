/** The auditing process of a pod: the agent's process starts it, and sends it the state. */
import { constants, setPriority } from "node:os";
import { setTimeout as rest } from "node:timers/promises";
import { AuditRunner } from "../cluster/audit/audit-runner.js";
import { AuditedFile } from "../cluster/audit/audited-file.js";
import { Auditor } from "../cluster/audit/auditor.js";
import type { FromAuditor, ToAuditor } from "../cluster/audit/messages.js";
import { REPORT_APIS } from "../cluster/audit/object-report.js";
import { RationedPace } from "../cluster/audit/pace.js";
import { AuditPolicySource } from "../cluster/audit/policy-source.js";
import { isExempt } from "../cluster/webhooks/exclusions.js";
import { formatProblem } from "../config/index.js";
import { SYSTEM_CLOCK } from "../data/clock.js";
import { createLoader } from "../loader/index.js";
import { givenFile } from "../loader/settings.js";
import type { Logger } from "../telemetry/logger.js";
import { openAccess } from "../world/cluster.js";
import type { ServeSettings } from "./settings.js";
import { distantModules } from "./shared-modules.js";

/** Audits until the parent process sends a stop, or has ended. */
export async function serveAsAuditor({ cluster: settings, loading }: ServeSettings, logger: Logger): Promise<void> {
  if (settings === undefined) return;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  giveWay(logger);
  const { now } = SYSTEM_CLOCK;
  const log = logger.named("audit");
  const alone = { ...loading, workers: 1, processors: 1 };
  const loader = createLoader(alone, { logger, fetch: { share: distantModules() } });
  const { policyTimeout, access } = loader;
  const cluster = openAccess(access, now, (message) => log.debug(message));
  if (cluster === undefined) return;
  const source = new AuditPolicySource(loader, now, loading.fromCluster);
  const file = new AuditedFile(() => givenFile(loading));
  const runner = new AuditRunner({
    cluster,
    policyTimeout,
    now,
    wall: SYSTEM_CLOCK.wall,
    onDefect: (policy, error) => log.error("a policy failed unexpectedly", { policy_id: policy, error: String(error) }),
    api: REPORT_APIS[settings.auditReports === "wgpolicyk8s" ? "wgpolicyk8s" : "openreports"],
    author: settings.policyServer,
    writes: settings.auditReports !== "none",
    namespace: "",
    excluded: { has: (name) => name === settings.namespace || isExempt(settings.exemptNamespaces, name) },
  });
  const auditor: Auditor = new Auditor({
    clock: SYSTEM_CLOCK,
    runner,
    interval: settings.auditInterval,
    pace: new RationedPace({ now, cpu, isBusy: () => auditor.isBusy, rest: (milliseconds) => rest(milliseconds) }),
    tell: (message: FromAuditor) => {
      if (process.connected) process.send?.(message, () => {});
    },
    policies: {
      take: (delta) => source.take(delta),
      filesChanged: () => file.hasChanged(),
      async load() {
        const read = file.read();
        if (read.problem !== undefined) log.error(read.problem);
        source.useFile(read.config);
        const loaded = await source.load();
        for (const problem of loaded.problems) log.debug(formatProblem(problem));
        return loaded;
      },
    },
  });
  await new Promise<void>((resolve) => {
    const stop = (): void => void auditor.stop().then(resolve);
    process.once("disconnect", stop);
    process.on("message", (message: ToAuditor) => {
      if (message.type === "stop") stop();
      else auditor.hear(message);
    });
    auditor.start();
  });
  source.close();
  loader.close();
  await cluster.close();
  if (process.connected) process.disconnect();
}

/** Lowers this process' priority below the serving ones, where the system permits it. */
function giveWay(logger: Logger): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch (error) {
    logger.debug("the audit's priority could not be lowered", { error: String(error) });
  }
}

/** Milliseconds of processor time that this process has used. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
