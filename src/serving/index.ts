import cluster from "node:cluster";
import { type CommandIo, say } from "../cli/io.js";
import { AUDITOR_VARIABLE } from "../cluster/audit/messages.js";
import { createLineSink, handleOf } from "../telemetry/line-sink.js";
import { createLogger } from "../telemetry/logger.js";
import { Metrics } from "../telemetry/metrics.js";
import { startDaemon } from "./daemon.js";
import { Exports } from "./exports.js";
import { keepHeapSmall } from "./heap.js";
import { openFilesProblem } from "./open-files.js";
import { serveSettings } from "./settings.js";
import { endAfterException, hangUps, surviveRejections } from "./signals.js";
import { startProblem } from "./start-problem.js";
import { leavePrimary, tellFailure } from "./tell.js";

/** Guests that run at a time in each process: one that runs away must not stop the others. */
const GUEST_THREADS = 2;

/**
 * `serve`: loads the policies, answers requests, and stops on SIGTERM or SIGINT once what is under way is answered; a second signal cuts it.
 * SIGHUP and changed files reload the policies.
 * @param began told the port when requests are answered; by one process only
 * @returns 0 after an orderly stop, 1 when it could not start
 * @throws UsageError when options contradict each other
 */
export async function serveCommand(
  values: Readonly<Record<string, unknown>>,
  io: CommandIo,
  began?: (port: number) => void,
): Promise<number> {
  const settings = serveSettings(values);
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
  // Whatever ends the process, the last lines are those that tell why.
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
      if (values.ignoreKubernetesConnectionFailure === true) {
        const { noteIgnoredFailure } = await import("../cli/kubernetes-options.js");
        noteIgnoredFailure({ ...values, kubernetes: true }, io);
      }
      const few = openFilesProblem();
      if (few !== undefined) logger.warn(few.message);
    }
    if (io.env[AUDITOR_VARIABLE] === "true") {
      const { serveAsAuditor } = await import("./auditor.js");
      await serveAsAuditor(settings, values, io.env, logger);
      return 0;
    }
    if (settings.record !== undefined && recording !== undefined && cluster.isPrimary)
      endRecording = recording.limitRecord(settings.record, logger);
    if (several && cluster.isPrimary) {
      // It loads no policies, and so nothing that policies need.
      const { servePrimary } = await import("./primary.js");
      const { modulePrefetch } = await import("../cli/module-prefetch.js");
      const { share, attend } = (await import("./shared-modules.js")).keepModules();
      cluster.on("fork", attend);
      const prefetch = modulePrefetch(values, io.env, share);
      const push = exports.metrics.bind(exports);
      const { agentStart } = await import("./cluster-agent.js");
      const startAgent = await agentStart(settings, values, io.env, logger, attend);
      const { keepStores } = await import("./shared-stores.js");
      const letGo = await keepStores(values, io.env, logger);
      const lost = (): number => sink.dropped;
      const served = servePrimary(settings, logger, lost, hangs, push, prefetch, startAgent);
      const failure = await served.finally(letGo);
      cluster.off("fork", attend);
      if (failure === undefined) return 0;
      say(io.stderr, `Error: ${failure}`);
      return 1;
    }
    const { createPolicySource } = await import("../cli/load.js");
    // A server looks for a cluster of its own accord.
    const kubernetes = values.kubernetes ?? true;
    const loading = { ...values, workers: GUEST_THREADS, processors: settings.processors, kubernetes };
    const shared = several ? (await import("./shared-stores.js")).storeChannel(io.env) : undefined;
    const { keepModules, distantModules } = await import("./shared-modules.js");
    const kept = several ? undefined : keepModules();
    const modules = kept?.share ?? distantModules();
    const own = { warnWithoutCluster: true, modules, ...(shared && { shared }) };
    const source = createPolicySource(loading, io.env, logger, own);
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
          ? (await import("../cli/page/open-playground.js")).openPlayground(loading, io.env)
          : undefined;
      const options = {
        ...{ settings, source, logger, metrics, cut: cut.signal },
        ...(tracer && { tracer }),
        ...(playground && { playground }),
        ...(recorder && { recorder }),
        ...(began && { began }),
      };
      if (several) {
        const { serveAsWorker } = await import("./worker.js");
        const { clusterAtBegin } = await import("./begin.js");
        await serveAsWorker({ ...options, ...(settings.cluster && { begin: clusterAtBegin }) });
      } else {
        if (settings.pushMetrics) {
          await exports.metrics(async () => ({ metrics, others: await metrics.registry.getMetricsAsJSON() }));
        }
        const { serveAlone } = await import("./alone.js");
        const { agentStart } = await import("./cluster-agent.js");
        const startAgent = await agentStart(settings, values, io.env, logger, kept?.attend ?? (() => {}));
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
