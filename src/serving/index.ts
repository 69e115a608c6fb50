import cluster from "node:cluster";
import { AUDITOR_VARIABLE } from "../cluster/audit/messages.js";
import { type CommandIo, say } from "../data/command-io.js";
import { createLineSink, handleOf } from "../telemetry/line-sink.js";
import { createLogger } from "../telemetry/logger.js";
import { Metrics } from "../telemetry/metrics.js";
import type { LogExport } from "../telemetry/otlp/log-export.js";
import type { PushedMetrics } from "../telemetry/otlp/metric-data.js";
import type { Push } from "../telemetry/otlp/metrics-push.js";
import type { DecisionTracer } from "../telemetry/otlp/tracing.js";
import { startDaemon } from "./daemon.js";
import { keepHeapSmall } from "./heap.js";
import { openFilesProblem } from "./open-files.js";
import type { ServeSettings } from "./settings.js";
import { endAfterException, hangUps, surviveRejections } from "./signals.js";
import { startProblem } from "./start-problem.js";
import { leavePrimary, tellFailure } from "./to-primary.js";
import { servingLine } from "./url.js";

/** OTLP exports of a process of `serve`. The libraries are loaded only when used: they take a tenth of a second and 20 MiB. */
class Exports {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #started: Push[] = [];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  async logs(): Promise<LogExport> {
    const { exportLogs } = await import("../telemetry/otlp/log-export.js");
    return this.#keep(exportLogs(this.#env));
  }

  async traces(): Promise<DecisionTracer> {
    const { traceDecisions } = await import("../telemetry/otlp/tracing.js");
    return this.#keep(traceDecisions(this.#env));
  }

  async metrics(read: () => Promise<PushedMetrics>): Promise<Push> {
    const { pushMetrics } = await import("../telemetry/otlp/metrics-push.js");
    return this.#keep(pushMetrics(read, this.#env));
  }

  /** Sends the rest and ends all exporters together, within STOP_WITHIN_MS. Never rejects. */
  async stop(): Promise<void> {
    await Promise.all(this.#started.map((exporter) => exporter.stop()));
  }

  #keep<T extends Push>(exporter: T): T {
    this.#started.push(exporter);
    return exporter;
  }
}

const saysWhere =
  (settings: ServeSettings, io: CommandIo) =>
  (port: number): void => {
    if (settings.logFormat === "text") say(io.stderr, servingLine(settings, port));
  };

/**
 * `serve`: loads the policies, answers requests, and stops on SIGTERM or SIGINT once requests under way are answered; a second signal cuts them.
 * SIGHUP and changed files reload the policies.
 * @param began receives the port when requests are answered; called once. Default: standard error gets a line for people, unless the log is for programs
 * @returns 0 after an orderly stop, 1 when it could not start
 */
export async function serveCommand(
  settings: ServeSettings,
  io: CommandIo,
  began: (port: number) => void = saysWhere(settings, io),
): Promise<number> {
  const { loading } = settings;
  if (settings.daemon !== undefined && !cluster.isWorker) {
    startDaemon(settings.daemon, io.env);
    return 0;
  }
  keepHeapSmall();
  const hangs = hangUps();
  const several = settings.workers > 1;
  const sink = createLineSink(1, several, handleOf(process.stdout));
  const { logLevel: level, logFormat: format, logColor: color } = settings;
  const exports = new Exports(io.env);
  const records = settings.traces ? await exports.logs() : undefined;
  const logger = createLogger({ sink, level, format, color, ...(records && { records }) });
  // Lines are flushed however the process ends: the last ones have the reason.
  const flush = (): void => sink.flushSync();
  process.on("exit", flush);
  const cut = new AbortController();
  const recording = settings.record === undefined ? undefined : await import("./recording.js");
  let endRecording = (): void => {};
  const forgetRejections = surviveRejections(logger);
  const forgetExceptions = endAfterException(logger, () => {
    cut.abort();
    flush();
    return exports.stop();
  });
  try {
    if (!cluster.isWorker) {
      if (loading.ignoreMissingCluster) (await import("../loader/cluster-access.js")).noteIgnoredFailure(loading, io);
      const few = openFilesProblem();
      if (few !== undefined) logger.warn(few.message);
    }
    if (io.env[AUDITOR_VARIABLE] === "true") {
      const { serveAsAuditor } = await import("./auditor.js");
      await serveAsAuditor(settings, logger);
      return 0;
    }
    if (settings.record !== undefined && recording !== undefined && cluster.isPrimary)
      endRecording = recording.limitRecord(settings.record, logger);
    if (several && cluster.isPrimary) {
      // The primary loads no policies, and none of their code.
      const { servePrimary } = await import("./primary.js");
      const { modulePrefetch } = await import("../loader/prefetch.js");
      const { share, attend } = (await import("./shared-modules.js")).keepModules();
      cluster.on("fork", attend);
      const prefetch = modulePrefetch(loading, share);
      const push = exports.metrics.bind(exports);
      const { agentStart } = await import("./cluster-agent.js");
      const startAgent = await agentStart(settings, logger, attend);
      const { keepStores } = await import("./shared-stores.js");
      const letGo = await keepStores(loading, logger);
      const lost = (): number => sink.dropped;
      const served = servePrimary(settings, logger, lost, hangs, push, prefetch, began, startAgent);
      const failure = await served.finally(letGo);
      cluster.off("fork", attend);
      if (failure === undefined) return 0;
      say(io.stderr, `Error: ${failure}`);
      return 1;
    }
    const { createPolicySource } = await import("../loader/policy-source.js");
    const shared = several ? (await import("./shared-stores.js")).storeChannel(io.env) : undefined;
    const { keepModules, distantModules } = await import("./shared-modules.js");
    const kept = several ? undefined : keepModules();
    const share = kept?.share ?? distantModules();
    const own = { logger, warnWithoutCluster: true, fetch: { share }, shared };
    const source = createPolicySource(loading, own);
    try {
      const metrics = new Metrics();
      metrics.losses("log_lines_dropped", () => sink.dropped);
      metrics.losses("log_records_dropped", () => records?.dropped ?? 0);
      const recorder = settings.record === undefined ? undefined : recording?.openRecorder(settings.record, logger);
      metrics.losses("recorded_requests_dropped", () => recorder?.dropped ?? 0);
      if (recorder !== undefined) process.on("exit", () => recorder.flushSync());
      const tracer = settings.traces ? await exports.traces() : undefined;
      const playground =
        settings.page === "play"
          ? (await import("../page/play/thread-playground.js")).openPlayground(loading)
          : undefined;
      const options = { settings, source, logger, metrics, cut: cut.signal, tracer, playground, recorder, began };
      if (several) {
        const { serveAsWorker } = await import("./worker.js");
        const { clusterAtBegin } = await import("./asked-at-start.js");
        await serveAsWorker({ ...options, began: undefined, ...(settings.cluster && { begin: clusterAtBegin }) });
      } else {
        if (settings.pushMetrics) {
          await exports.metrics(async () => ({ metrics, others: await metrics.registry.getMetricsAsJSON() }));
        }
        const { serveAlone } = await import("./serve-alone.js");
        const { agentStart } = await import("./cluster-agent.js");
        const startAgent = await agentStart(settings, logger, kept?.attend ?? (() => {}));
        await serveAlone({ ...options, probes: true }, hangs, startAgent);
      }
      return 0;
    } finally {
      source.close();
    }
  } catch (error) {
    const message = startProblem(error, settings);
    if (cluster.isWorker) await tellFailure(message);
    else say(io.stderr, `Error: ${message}`);
    return 1;
  } finally {
    endRecording();
    hangs.stop();
    forgetRejections();
    forgetExceptions();
    process.off("exit", flush);
    flush();
    await exports.stop();
    if (cluster.isWorker) leavePrimary();
  }
}
