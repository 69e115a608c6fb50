import { createEvaluator } from "../evaluation/evaluator.js";
import { startServer } from "../server/server.js";
import { createLineSink } from "../telemetry/line-sink.js";
import { createLogger, type LogFormat, type Logger, type LogLevel } from "../telemetry/logger.js";
import { Metrics } from "../telemetry/metrics.js";
import type { CommandIo } from "./io.js";
import { createPolicySource, type LoadResult, problemLines } from "./load.js";
import { Reloader } from "./reload.js";

/** How long the server goes on serving after SIGTERM while its readiness already fails, in milliseconds: time for endpoints to be updated. */
const DRAIN_DELAY_MS = 0;
/** How long requests under way may take after that: the longest timeout a webhook can have. */
const DRAIN_GRACE_MS = 30_000;

/**
 * `serve`: loads the policies, answers requests, and stops on SIGTERM or SIGINT once what is under way is answered; a second signal cuts it.
 * @returns 0 after an orderly stop, 1 when it could not start
 */
export async function serveCommand(values: Readonly<Record<string, unknown>>, io: CommandIo): Promise<number> {
  const sink = createLineSink(1);
  const logger = createLogger({ sink, level: values.logLevel as LogLevel, format: values.logFmt as LogFormat });
  const source = createPolicySource(values, io.env, logger);
  try {
    const loaded = await source.load();
    logProblems(logger, loaded);
    if (loaded.fatal !== undefined) {
      io.stderr.write(`Error: ${loaded.fatal}\n`);
      return 1;
    }
    if (values.strict === true && values.continueOnErrors !== true && loaded.errors > 0) {
      io.stderr.write(`Error: ${loaded.file} has ${loaded.errors} errors, and --strict refuses to start with any:\n`);
      for (const line of problemLines(loaded)) io.stderr.write(`${line}\n`);
      return 1;
    }
    const metrics = new Metrics();
    metrics.gauge("log_lines_dropped", () => sink.dropped);
    const evaluator = createEvaluator(loaded.policies, {
      policyTimeout: source.policyTimeout,
      ...(typeof values.alwaysAcceptAdmissionReviewsOnNamespace === "string" && {
        alwaysAcceptNamespace: values.alwaysAcceptAdmissionReviewsOnNamespace,
      }),
    });
    const server = await startServer({
      evaluator,
      metrics,
      logger,
      address: String(values.addr),
      port: Number(values.port),
      readinessPort: Number(values.readinessProbePort),
      bodyLimit: Number(values.maxBodyBytes),
    });
    logger.info("serving policies", {
      address: values.addr,
      port: server.port,
      readiness_port: server.readinessPort,
      policies: [...loaded.policies.entries.keys()].filter((id) => !id.includes("/")).length,
    });
    const reloader = new Reloader({ source, evaluator, metrics, logger, loaded });
    const reload = () => void reloader.reload();
    process.on("SIGHUP", reload);
    const signal = await stopSignal();
    process.off("SIGHUP", reload);
    logger.info("stopping", { signal });
    void stopSignal().then(() => server.stop({ delay: 0, grace: 0 }));
    await server.stop({ delay: DRAIN_DELAY_MS, grace: DRAIN_GRACE_MS });
    logger.info("stopped");
    return 0;
  } finally {
    source.close();
    sink.flushSync();
  }
}

function logProblems(logger: Logger, loaded: LoadResult): void {
  for (const [index, line] of problemLines(loaded).entries()) {
    logger.log(loaded.problems[index]?.severity === "error" ? "error" : "warn", line);
  }
}

/** Resolves with the next SIGTERM or SIGINT. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve(signal);
    };
    process.on("SIGTERM", stop).on("SIGINT", stop);
  });
}
