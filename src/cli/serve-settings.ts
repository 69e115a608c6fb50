/** The options of `serve` as typed settings, with errors of combined options (spec kubewarden.md 2). */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { type Environment, UsageError } from "../data/command-io.js";
import { isLoopback } from "../page/guard.js";
import { bodyShare } from "../server/body-memory.js";
import type { TlsClients, TlsFiles } from "../server/tls-material.js";
import type { ServeSettings } from "../serving/settings.js";
import { clusterSettings } from "./cluster-settings.js";
import { clusterEntryOptions, commaSeparated, loaderSettings } from "./loader-settings.js";
import { type OptionValues, SERVE_DEFAULTS, type ServeValues } from "./options.js";

/** Guests that run at a time in each process: one that loops must not stop the others. */
const GUEST_THREADS = 2;

/**
 * The settings of a server.
 * @param values values in place of the defaults; `kubernetes` is true by default: a server looks for a cluster without being told
 * @throws UsageError when options contradict each other
 */
export function serveSettings(given: OptionValues, environment: Environment = {}): ServeSettings {
  const values = { ...SERVE_DEFAULTS, ...given };
  const { addr: address, page, maxBodyBytes: bodyLimit } = values;
  if (isIP(address) === 0) throw new UsageError(`error parsing arguments: --addr: '${address}' is not an IP address`);
  const tls = tlsFiles(values);
  if (page === "play" && !isLoopback(address)) {
    throw new UsageError(
      `--page play evaluates what any client sends that reaches it, and --addr is ${address}: add --addr 127.0.0.1, or use --page read`,
    );
  }
  const usable = usableProcessors();
  const { workers = usable } = values;
  const processors = Math.max(1, Math.floor(usable / workers));
  const cluster = clusterSettings(values);
  return {
    address,
    port: values.port,
    readinessPort: values.readinessProbePort,
    tls,
    clientNames: commaSeparated(values.clientAllowedNames ?? ""),
    workers,
    page,
    processors,
    bodyLimit,
    bodyMemory: bodyShare(usableMemory(), workers, bodyLimit),
    concurrency: values.maxConcurrentRequests,
    queue: values.maxQueuedRequests,
    alwaysAcceptNamespace: values.alwaysAcceptAdmissionReviewsOnNamespace || undefined,
    approve: values.approve || undefined,
    cluster,
    strict: values.strict && !values.continueOnErrors,
    loading: {
      ...loaderSettings({ kubernetes: true, ...values }, environment),
      ...{ workers: GUEST_THREADS, processors, namespace: cluster?.namespace },
      fromCluster: values.fromCluster ? clusterEntryOptions(values) : undefined,
    },
    logLevel: values.logLevel,
    // As in the reference server `otlp` means traces over OTLP, and text lines beside them (spec kubewarden.md 8.2); the log records are an addition.
    logFormat: values.logFmt === "json" ? "json" : "text",
    pushMetrics: values.enableMetrics,
    traces: values.logFmt === "otlp",
    profiles: values.enablePprof,
    logColor: !values.logNoColor && process.stdout.isTTY === true,
    watch: !values.disablePolicyWatch,
    daemon: values.daemon ? daemonFiles(values) : undefined,
    record: values.record
      ? { file: values.record, maxBytes: values.recordMaxBytes, every: values.recordEvery }
      : undefined,
    drainDelay: values.drainDelay * 1000,
    drainGrace: values.drainGrace * 1000,
  };
}

function tlsFiles(values: ServeValues): TlsFiles | TlsClients | undefined {
  const certFile = values.certFile || undefined;
  const keyFile = values.keyFile || undefined;
  const clientCaFiles = commaSeparated(values.clientCaFile ?? "");
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError("error parsing arguments: both certificate and key must be provided together");
  }
  const minVersion = values.tlsMinVersion === "1.3" ? "TLSv1.3" : "TLSv1.2";
  // A Secret together with files is refused.
  if (certFile === undefined && values.tlsSecret !== undefined) return { clientCaFiles, minVersion };
  if (certFile === undefined || keyFile === undefined) {
    if (clientCaFiles.length === 0) return undefined;
    throw new UsageError(
      "error parsing arguments: client CA certificate requires server certificate and key to be specified",
    );
  }
  return { certFile, keyFile, clientCaFiles, minVersion };
}

const daemonFiles = ({ daemonPidFile, daemonStdoutFile, daemonStderrFile }: ServeValues) => ({
  pidFile: daemonPidFile,
  ...(daemonStdoutFile && { stdoutFile: daemonStdoutFile }),
  ...(daemonStderrFile && { stderrFile: daemonStderrFile }),
});

/** The file with a container's processor quota and period in microseconds. */
const CPU_QUOTA_FILE = "/sys/fs/cgroup/cpu.max";

/** Processors this process may use: a container's quota counts, which Node ignores. */
function usableProcessors(): number {
  const all = availableParallelism();
  try {
    const [quota, period] = readFileSync(CPU_QUOTA_FILE, "utf8").trim().split(" ").map(Number);
    return quota !== undefined && period !== undefined && quota > 0
      ? Math.max(1, Math.min(all, Math.ceil(quota / period)))
      : all;
  } catch {
    return all;
  }
}

/** Bytes of memory this process and its children may use: a container's limit counts if there is one. */
function usableMemory(): number {
  const limit = process.constrainedMemory();
  // Without a limit it is 0, or more than any machine has.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
