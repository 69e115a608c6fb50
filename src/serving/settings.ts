/** The options of `serve` as typed settings, with the mistakes that only show when options meet (spec kubewarden.md 2). */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import type { SecureVersion } from "node:tls";
import { UsageError } from "../cli/io.js";
import type { ClusterSettings } from "../cluster/settings.js";
import { isLoopback } from "../page/guard.js";
import { bodyShare } from "../server/body-memory.js";
import type { TlsClients, TlsFiles } from "../server/tls-material.js";
import type { LogFormat, LogLevel } from "../telemetry/logger.js";
import { clusterSettings } from "./cluster-settings.js";
import type { DaemonFiles } from "./daemon.js";

/** What `serve` does. Times are milliseconds. */
export interface ServeSettings {
  readonly address: string;
  readonly port: number;
  readonly readinessPort: number;
  readonly tls?: TlsFiles | TlsClients;
  readonly clientNames: readonly string[];
  /** Processes that answer requests; 1: this one. */
  readonly workers: number;
  /** Processors that each of them may count on. */
  readonly processors: number;
  readonly bodyLimit: number;
  /** Bytes that bodies whose end has not come may take in each of them. */
  readonly bodyMemory: number;
  readonly concurrency: number;
  readonly queue: number;
  readonly alwaysAcceptNamespace?: string;
  /** The policy that approves CertificateRequests; absent: none. */
  readonly approve?: string;
  /** Whether and how policies come from the cluster. */
  readonly cluster?: ClusterSettings;
  readonly strict: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly logColor: boolean;
  /** Whether metrics are pushed over OTLP. */
  readonly pushMetrics: boolean;
  /** Whether requests are traced, and log lines exported too, over OTLP. */
  readonly traces: boolean;
  /** The page in the browser. */
  readonly page: "off" | "read" | "play";
  /** Whether profiles may be taken over HTTP. */
  readonly profiles: boolean;
  /** Whether files are looked after, and changes taken over, without a signal. */
  readonly watch: boolean;
  /** Whether to go on in the background. */
  readonly daemon?: DaemonFiles;
  /** Where requests are recorded, one of `every`; absent: nowhere. */
  readonly record?: { readonly file: string; readonly maxBytes: number; readonly every: number };
  readonly drainDelay: number;
  readonly drainGrace: number;
}

/**
 * Reads the settings from option values.
 * @throws UsageError when options contradict each other
 */
export function serveSettings(values: Readonly<Record<string, unknown>>): ServeSettings {
  const address = String(values.addr);
  if (isIP(address) === 0) throw new UsageError(`error parsing arguments: --addr: '${address}' is not an IP address`);
  const tls = tlsFiles(values);
  const page = (values.page ?? "read") as ServeSettings["page"];
  if (page === "play" && !isLoopback(address)) {
    throw new UsageError(
      `--page play evaluates what anybody sends who reaches it, and --addr is ${address}: add --addr 127.0.0.1, or use --page read`,
    );
  }
  const namespace = text(values.alwaysAcceptAdmissionReviewsOnNamespace);
  const approve = text(values.approve);
  const cluster = clusterSettings(values);
  const record = text(values.record);
  const usable = usableProcessors();
  const workers = typeof values.workers === "number" ? values.workers : usable;
  const bodyLimit = Number(values.maxBodyBytes);
  return {
    address,
    port: Number(values.port),
    readinessPort: Number(values.readinessProbePort),
    ...(tls && { tls }),
    clientNames: list(values.clientAllowedNames),
    workers,
    page,
    processors: Math.max(1, Math.floor(usable / workers)),
    bodyLimit,
    bodyMemory: bodyShare(usableMemory(), workers, bodyLimit),
    concurrency: Number(values.maxConcurrentRequests),
    queue: Number(values.maxQueuedRequests),
    ...(namespace !== undefined && { alwaysAcceptNamespace: namespace }),
    ...(approve !== undefined && { approve }),
    ...(cluster && { cluster }),
    strict: values.strict === true && values.continueOnErrors !== true,
    logLevel: values.logLevel as LogLevel,
    // As in the reference server `otlp` means traces over OTLP, and text lines beside them (spec kubewarden.md 8.2); log records are ours.
    logFormat: values.logFmt === "json" ? "json" : "text",
    pushMetrics: values.enableMetrics === true,
    traces: values.logFmt === "otlp",
    profiles: values.enablePprof === true,
    logColor: values.logNoColor !== true && process.stdout.isTTY === true,
    watch: values.disablePolicyWatch !== true,
    ...(values.daemon === true && { daemon: daemonFiles(values) }),
    ...(record !== undefined && {
      record: { file: record, maxBytes: Number(values.recordMaxBytes), every: Number(values.recordEvery) },
    }),
    drainDelay: Number(values.drainDelay) * 1000,
    drainGrace: Number(values.drainGrace) * 1000,
  };
}

function tlsFiles(values: Readonly<Record<string, unknown>>): TlsFiles | TlsClients | undefined {
  const certFile = text(values.certFile);
  const keyFile = text(values.keyFile);
  const clientCaFiles = list(values.clientCaFile);
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError("error parsing arguments: both certificate and key must be provided together");
  }
  const minVersion: SecureVersion = values.tlsMinVersion === "1.3" ? "TLSv1.3" : "TLSv1.2";
  // Together with files the Secret is refused.
  if (certFile === undefined && values.tlsSecret !== undefined) return { clientCaFiles, minVersion };
  if (certFile === undefined || keyFile === undefined) {
    if (clientCaFiles.length === 0) return undefined;
    throw new UsageError(
      "error parsing arguments: client CA certificate requires server certificate and key to be specified",
    );
  }
  return { certFile, keyFile, clientCaFiles, minVersion };
}

function daemonFiles(values: Readonly<Record<string, unknown>>): DaemonFiles {
  const stdoutFile = text(values.daemonStdoutFile);
  const stderrFile = text(values.daemonStderrFile);
  return {
    pidFile: String(values.daemonPidFile),
    ...(stdoutFile !== undefined && { stdoutFile }),
    ...(stderrFile !== undefined && { stderrFile }),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function list(value: unknown): string[] {
  const items = text(value)?.split(",") ?? [];
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

/** Where a container's share of the processors is written: quota and period in microseconds. */
const CPU_QUOTA_FILE = "/sys/fs/cgroup/cpu.max";

/** Processors this process may use: a container's quota counts, which Node does not look at. */
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

/** Bytes of memory this process and its children may use: a container's limit counts where there is one. */
function usableMemory(): number {
  const limit = process.constrainedMemory();
  // Where there is none it is 0, or more than any machine has.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
