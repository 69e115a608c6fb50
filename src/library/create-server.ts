/** The server in a program: one process, without signals, watched files, or a command line. */
import type { TlsOptions } from "node:tls";
import { createWebhooks } from "../loader/index.js";
import { pageRoutes } from "../page/routes.js";
import { createEvaluator } from "../policy/served/evaluator.js";
import { startServer } from "../server/server.js";
import type { Decision, DecisionSink } from "../telemetry/decision.js";
import { Metrics } from "../telemetry/metrics.js";
import { checkLoaded, checkOpen, type LoadedPolicies } from "./load-policies.js";
import { type Log, loggerOf } from "./log.js";

import { CERTIFICATE, COUNT, checkOptions, FUNCTION, OptionError, oneOf, PORT, SWITCH, TEXT } from "./options.js";

/** Options of a server. */
export interface ServerOptions {
  /** An IP address to listen on. Default 127.0.0.1: only this machine. */
  readonly address?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Port of the probes, plain HTTP; 0: any free port. Default: no probes. */
  readonly readinessPort?: number;
  /** Certificate and key, in the form of node:tls. Default: plain HTTP. */
  readonly tls?: TlsOptions;
  /** Requests about objects in this namespace are allowed without evaluation. Default none. */
  readonly alwaysAcceptNamespace?: string;
  /** Most bytes of a body. Default 2 MiB. */
  readonly maxBodyBytes?: number;
  /** Evaluations under way at a time. Default 128. */
  readonly maxConcurrentRequests?: number;
  /** Requests that may wait for a place; more are refused with 429. Default 1024. */
  readonly maxQueuedRequests?: number;
  /**
   * `read`: the page at `GET /` shows the served policies to every client that reaches the port; it evaluates nothing. Default off: a program may
   * have its own page.
   */
  readonly page?: "off" | "read";
  /** Receives the lines of the server's log. Default: no log. */
  readonly log?: Log;
  /** Receives each decision, for the program's own metrics; without messages about Secrets. It must not throw. */
  readonly onDecision?: (decision: Decision) => void;
  /** Whether `GET /metrics` includes metrics of the process. Default true. */
  readonly processMetrics?: boolean;
}

const SHAPES = {
  address: TEXT,
  port: PORT,
  readinessPort: PORT,
  tls: CERTIFICATE,
  alwaysAcceptNamespace: TEXT,
  maxBodyBytes: COUNT,
  maxConcurrentRequests: COUNT,
  maxQueuedRequests: COUNT,
  page: oneOf("off", "read"),
  log: FUNCTION,
  onDecision: FUNCTION,
  processMetrics: SWITCH,
} as const;

/** A running server. */
export interface PolicyServer {
  /** `http://127.0.0.1:3000`, or with https. */
  readonly url: string;
  readonly port: number;
  readonly readinessPort: number | undefined;
  /** Metrics in Prometheus' text format, as from `GET /metrics`. */
  metrics(): Promise<string>;
  /** Uses other certificates for new connections. */
  secure(tls: TlsOptions): void;
  /**
   * Stops the server. The policies stay open until `LoadedPolicies.close`.
   * @param grace milliseconds for requests under way; default 30,000
   */
  close(grace?: number): Promise<void>;
}

/**
 * Serves loaded policies as `policy-server serve` does, and uses the new ones after a reload.
 * @throws OptionError, or the system's error for a port that is not available
 */
export async function createServer(loaded: LoadedPolicies, options: ServerOptions = {}): Promise<PolicyServer> {
  checkLoaded("createServer", loaded);
  checkOpen("createServer", loaded);
  checkOptions("createServer", options, SHAPES);
  const { address = "127.0.0.1", port = 0, readinessPort, tls, alwaysAcceptNamespace, log, onDecision } = options;
  const { maxBodyBytes, maxConcurrentRequests, maxQueuedRequests, page } = options;
  const logger = loggerOf(log);
  const metrics = new Metrics(options.processMetrics ?? true);
  const evaluator = createEvaluator(loaded.policies, {
    policyTimeout: loaded.policyTimeout,
    ...(alwaysAcceptNamespace !== undefined && { alwaysAcceptNamespace }),
    onDefect: (policy, error) =>
      logger.error("a policy failed unexpectedly", { policy_id: policy, error: String(error) }),
  });
  const unfollow = loaded.onReload((policies) => evaluator.use(policies));
  const webhooks = createWebhooks();
  const server = await startServer({
    evaluator,
    metrics,
    logger,
    webhooks,
    address,
    port,
    ...(readinessPort !== undefined && { readinessPort }),
    ...(tls && { tls }),
    ...(maxBodyBytes !== undefined && { bodyLimit: maxBodyBytes }),
    gate: {
      ...(maxConcurrentRequests !== undefined && { concurrency: maxConcurrentRequests }),
      ...(maxQueuedRequests !== undefined && { queue: maxQueuedRequests }),
    },
    ...(onDecision && { tracer: observing(onDecision) }),
    ...(page === "read" && { added: [pageRoutes({ policies: () => evaluator.policies, address })] }),
  }).catch((error: unknown) => {
    unfollow();
    throw error;
  });
  let closing: Promise<void> | undefined;
  const close = async (grace: number): Promise<void> => {
    unfollow();
    await server.stop({ delay: 0, grace });
    for (const webhook of webhooks) webhook.close();
  };
  return {
    url: `${tls === undefined ? "http" : "https"}://${address.includes(":") ? `[${address}]` : address}:${server.port}`,
    port: server.port,
    readinessPort: server.readinessPort,
    metrics: () => metrics.text().then((parts) => parts.join("")),
    secure: (material) => {
      if (tls === undefined) throw new OptionError("secure: the server was made without tls");
      checkOptions("secure", { tls: material }, { tls: CERTIFICATE });
      server.secure(material);
    },
    close: (grace = 30_000) => {
      closing ??= close(grace);
      return closing;
    },
  };
}

const observing = (told: (decision: Decision) => void): DecisionSink => ({
  record: (decision) => {
    told(decision);
    return undefined;
  },
});
