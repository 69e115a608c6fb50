/** Settings of `serve`; the command line makes them of its options. */
import type { ClusterSettings } from "../cluster/settings.js";
import type { LoaderSettings } from "../loader/settings.js";
import type { TlsClients, TlsFiles } from "../server/tls-material.js";
import type { LogFormat, LogLevel } from "../telemetry/logger.js";
import type { DaemonFiles } from "./daemon.js";

/** Settings of `serve`. Times are milliseconds. */
export interface ServeSettings {
  readonly address: string;
  readonly port: number;
  readonly readinessPort: number;
  readonly tls?: TlsFiles | TlsClients | undefined;
  readonly clientNames: readonly string[];
  /** Serving processes; 1: only this one. */
  readonly workers: number;
  /** Processors that each of them may count on. */
  readonly processors: number;
  readonly bodyLimit: number;
  /** Bytes of incomplete bodies in each of them. */
  readonly bodyMemory: number;
  readonly concurrency: number;
  readonly queue: number;
  readonly alwaysAcceptNamespace?: string | undefined;
  /** The policy that approves CertificateRequests; absent: none. */
  readonly approve?: string | undefined;
  /** Whether and how policies come from the cluster. */
  readonly cluster?: ClusterSettings | undefined;
  readonly strict: boolean;
  /** Settings for loading policies in a serving process. */
  readonly loading: LoaderSettings;
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
  /** Whether files are watched, and reloaded without a signal. */
  readonly watch: boolean;
  /** Files of a server in the background; absent: it stays in the foreground. */
  readonly daemon?: DaemonFiles | undefined;
  /** The file for recorded requests, one of `every`; absent: none. */
  readonly record?: { readonly file: string; readonly maxBytes: number; readonly every: number } | undefined;
  readonly drainDelay: number;
  readonly drainGrace: number;
}
