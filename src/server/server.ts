/** The server: hot and plain routes on node:http, everything else on Express, probes on a port of their own, and a stop that loses no request. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import type { TlsOptions } from "node:tls";
import type { Evaluator } from "../policy/served/evaluator.js";
import type { ShadowRows } from "../policy/served/shadow/tally.js";
import type { Webhook } from "../policy/webhook.js";
import type { DecisionSink } from "../telemetry/decision.js";
import type { Logger } from "../telemetry/logger.js";
import type { Metrics, MetricsText } from "../telemetry/metrics.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";
import type { RequestRecorder } from "../telemetry/recording/index.js";
import type { AddedRoutes } from "./added-routes.js";
import { BodyMemory, bodyShare } from "./body-memory.js";
import { STOP_CLOCK, type StopClock } from "./drain.js";
import { DEFAULT_CONCURRENCY, DEFAULT_QUEUE, DEFAULT_QUEUE_TIMEOUT_MS, Gate, type GateLimits } from "./gate.js";
import { listen } from "./listener.js";
import { PacedReading } from "./paced-reading.js";
import { Phases } from "./phases.js";
import { apiRoutes, appPaths, type LoadedRoutes, type PortRoutes, plainOr, probeHandler } from "./plain-routes.js";
import { sendProblem } from "./respond.js";
import { createReviewHandler } from "./review-handler.js";
import { isReviewPath, pathOf, reviewRoute } from "./routes.js";
import { suggestions } from "./suggestions.js";
import { createWebhookHandler } from "./webhook-handler.js";

// The load of the main thread, for work that is to be done only when it is low.

/** Share of its time above which the main thread counts as busy: a third is left for what comes at once. */
const BUSY_SHARE = 0.66;
/** Milliseconds of a measurement: long enough for several requests, short enough to notice more of them. */
const WINDOW_MS = 100;

/** Node's measurements. */
interface LoopMeasure {
  /** Monotonic milliseconds. */
  now(): number;
  /** The utilization of the event loop, since its start, or since an earlier value. */
  utilization(since?: EventLoopUtilization): EventLoopUtilization;
}

const NODE: LoopMeasure = {
  now: () => performance.now(),
  utilization: (since) => performance.eventLoopUtilization(since),
};

/** The load of this process' main thread. */
export class MainThreadLoad {
  readonly #measure: LoopMeasure;
  #from: EventLoopUtilization;
  #at: number;
  #isHigh = false;

  constructor(measure: LoopMeasure = NODE) {
    this.#measure = measure;
    this.#from = measure.utilization();
    this.#at = measure.now();
  }

  /** Whether it was busy for most of the last tenth of a second, or of the time since the last call. */
  isHigh(): boolean {
    const now = this.#measure.now();
    if (now - this.#at >= WINDOW_MS) {
      this.#isHigh = this.#measure.utilization(this.#from).utilization > BUSY_SHARE;
      this.#from = this.#measure.utilization();
      this.#at = now;
    }
    return this.#isHigh;
  }
}

/** The path of the OpenAPI document. */
export const OPENAPI_PATH = "/openapi.json";

/** The options of the routes. */
interface ApiPortOptions {
  readonly evaluator: Evaluator;
  readonly profiles: boolean;
  readonly webhooks: readonly Webhook[];
  readonly shadows: () => Promise<ShadowRows>;
  readonly metricsText: () => Promise<MetricsText>;
  /** Routes of other rooms; default none. */
  readonly added?: readonly AddedRoutes[];
}

/** All routes behind the hot ones. */
function apiPort(options: ApiPortOptions): PortRoutes {
  const { evaluator, profiles, webhooks, shadows, metricsText, added = [] } = options;
  const plain = apiRoutes(metricsText);
  const app: LoadedRoutes = {
    paths: appPaths(profiles),
    load: async () => (await import("./app.js")).createApp({ evaluator, profiles, shadows }),
  };
  const openApi: LoadedRoutes = {
    paths: [OPENAPI_PATH],
    load: async () => (await import("./openapi.js")).openApiRoute({ paths: paths.slice(), webhooks }),
  };
  const loaded: readonly LoadedRoutes[] = [app, openApi, ...added];
  const paths = [...plain.keys(), ...loaded.flatMap((routes) => [...routes.paths, ...(routes.posted ?? [])])];
  return {
    plain,
    loaded,
    isPosted: (path) => isReviewPath(path) || webhooks.some((webhook) => webhook.path === path),
    suggest: suggestions({ ids: () => evaluator.policies.entries.keys(), paths }),
  };
}

/** The reference server's limit (spec kubewarden.md 3.5). */
export const DEFAULT_BODY_LIMIT = 2_097_152;

/**
 * Most JSON values in a body of at most {@link DEFAULT_BODY_LIMIT}; in larger ones in proportion. Real objects have one in 12 bytes where they are dense
 * (definitions without descriptions), and 20 to 40 otherwise; reading so many takes some 100 ms in the worst shapes.
 */
const MAX_VALUES = 200_000;

/** The options of a server. */
export interface ServerOptions {
  readonly evaluator: Evaluator;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** An IP address. */
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Absent: no probes. */
  readonly readinessPort?: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions;
  /** Names of which a client's certificate must have one; absent: any certificate of the authorities is accepted. */
  readonly clientNames?: readonly string[];
  /** Most bytes of a body; default {@link DEFAULT_BODY_LIMIT}. */
  readonly bodyLimit?: number;
  /** Bytes that unfinished bodies may take together; default that of a server of one process with plenty of memory. */
  readonly bodyMemory?: number;
  /** Most connections at a time. */
  readonly maxConnections?: number;
  readonly gate?: Partial<GateLimits>;
  /** Whether profiles may be taken over HTTP; default no. */
  readonly profiles?: boolean;
  /** Receives decisions besides the log. */
  readonly tracer?: DecisionSink;
  /** Receives requests with their answers. */
  readonly recorder?: RequestRecorder;
  /** Called with each verdict that is sent: bytes of the request's body, and milliseconds since it came. */
  readonly answered?: (bytes: number, milliseconds: number) => void;
  /** Webhooks about policies themselves. */
  readonly webhooks?: readonly Webhook[];
  /** Routes of other rooms. */
  readonly added?: readonly AddedRoutes[];
  /** Why this server should not get requests yet; see the probes' options. */
  readonly unready?: () => string | undefined;
  /** Metrics in Prometheus' text format; default this process' own. */
  readonly metricsText?: () => Promise<MetricsText>;
  /** The counters of all processes for versions in shadow; default this process' own. */
  readonly shadows?: () => Promise<ShadowRows>;
  /** By which a stop takes its time; default the machine's. */
  readonly clock?: StopClock;
}

/** Options of stopping. */
export interface StopOptions {
  /**
   * Milliseconds of continued service while readiness already fails: load balancers need a moment to notice, and requests they send meanwhile
   * would be refused.
   */
  readonly delay: number;
  /** Milliseconds for requests under way after that. */
  readonly grace: number;
}

/** A running server. */
export interface RunningServer {
  readonly port: number;
  readonly readinessPort: number | undefined;
  /** Uses new certificates for new connections. */
  secure(tls: TlsOptions): void;
  /** Stops; a second call ends the first one's delay and cuts the rest. Resolves when nothing is open any more. */
  stop(options: StopOptions): Promise<void>;
}

/** Starts a server. The evaluator's policies must be ready: readiness answers 200 from here on. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { evaluator, metrics, logger, address, port, readinessPort, tls, bodyLimit = DEFAULT_BODY_LIMIT } = options;
  const { clock = STOP_CLOCK } = options;
  const gate = new Gate({
    concurrency: DEFAULT_CONCURRENCY,
    queue: DEFAULT_QUEUE,
    queueTimeout: DEFAULT_QUEUE_TIMEOUT_MS,
    ...options.gate,
  });
  metrics.gauge("requests_in_flight", () => gate.busy);
  metrics.gauge("requests_queued", () => gate.waiting);

  const metricsText =
    options.metricsText ?? oneAtATime(async (): Promise<MetricsText> => ({ parts: await metrics.text() }));
  let stopping = false;
  const hurried = new AbortController();
  const paced = new PacedReading();
  const { bodyMemory = bodyShare(Number.POSITIVE_INFINITY, 1, bodyLimit) } = options;
  const reading = {
    metrics,
    logger,
    bodyLimit,
    bodies: { memory: new BodyMemory(bodyMemory), crumbles: paced.pace },
    maxValues: Math.ceil((MAX_VALUES * Math.max(bodyLimit, DEFAULT_BODY_LIMIT)) / DEFAULT_BODY_LIMIT),
    stopping: () => stopping,
    ...(options.tracer && { tracer: options.tracer }),
    ...(options.recorder && { recorder: options.recorder }),
  };
  const phases = new Phases();
  evaluator.turns.before = phases.run;
  const load = new MainThreadLoad();
  evaluator.shadows.isBusy = (isImmediate) =>
    phases.isDue || gate.waiting > 0 || (!isImmediate && gate.busy > 0) || load.isHigh();
  const review = createReviewHandler({
    ...{ evaluator, gate, phases, ...reading },
    ...(options.answered && { answered: options.answered }),
  });
  const { webhooks = [] } = options;
  const askWebhook = createWebhookHandler({ turns: evaluator.turns, ...reading });
  const profiles = options.profiles ?? false;
  const shadows = options.shadows ?? (async () => evaluator.shadows.tally.rows);
  const { added = [] } = options;
  const app = plainOr(apiPort({ evaluator, metricsText, profiles, webhooks, shadows, added }));
  const others = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.method === "POST" ? pathOf(request.url ?? "") : undefined;
    const webhook = path === undefined ? undefined : webhooks.find((each) => each.path === path);
    if (webhook === undefined) app(request, response);
    else askWebhook(request, response, webhook);
  };
  const handler: RequestListener = (request, response) => {
    if (stopping) response.shouldKeepAlive = false;
    const route = request.method === "POST" ? reviewRoute(request.url ?? "") : undefined;
    if (route === undefined) others(request, response);
    else if (route.kind === "problem") sendProblem(request, response, route);
    else review(request, response, route);
  };
  const main = await listen({
    address,
    port,
    handler,
    bodyLimit,
    reading: paced,
    logger,
    clock,
    ...(options.maxConnections !== undefined && { maxConnections: options.maxConnections }),
    ...(tls && { tls }),
    ...(options.clientNames && { clientNames: options.clientNames }),
  });
  const probes =
    readinessPort === undefined
      ? undefined
      : await listen({
          address,
          port: readinessPort,
          clock,
          handler: probeHandler({
            ready: () => !stopping,
            metricsText,
            ...(options.unready && { unready: options.unready }),
          }),
        }).catch(async (error: unknown) => {
          await main.close(0);
          throw error;
        });
  return {
    port: main.port,
    readinessPort: probes?.port,
    secure: (material) => main.secure(material),
    stop: async ({ delay, grace }) => {
      if (stopping) hurried.abort();
      stopping = true;
      if (delay > 0 && !hurried.signal.aborted) await waitUntil(clock, delay, hurried.signal);
      await main.close(hurried.signal.aborted ? 0 : grace);
      await probes?.close(0);
    },
  };
}

/** Resolves when so many milliseconds have passed, or with the signal. */
function waitUntil(clock: StopClock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(milliseconds, resolve);
    const end = (): void => {
      cancel();
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}
