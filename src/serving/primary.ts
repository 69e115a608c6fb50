/**
 * `serve` on all cores: this process starts the serving processes, replaces those that die or hang, makes them reload in one step, adds up their
 * metrics, and answers the probes.
 */
import cluster from "node:cluster";
import type { CertificatePair, SecuredServing } from "../cluster/certificates/certificates.js";
import type { ClusterState } from "../cluster/cluster-state.js";
import type { Agent } from "../cluster/index.js";
import type { Serving } from "../cluster/serving.js";
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import { SYSTEM_CLOCK } from "../data/clock.js";
import { watchFiles } from "../server/file-watch.js";
import { type Listener, listen } from "../server/listener.js";
import { probeHandler } from "../server/plain-routes.js";
import type { Logger } from "../telemetry/logger.js";
import type { PushedMetrics } from "../telemetry/otlp/metric-data.js";
import type { Push } from "../telemetry/otlp/metrics-push.js";
import { Slices } from "../telemetry/slices.js";
import type { AgentStart } from "./cluster-agent.js";
import { type Child, Fleet } from "./fleet.js";
import { FleetPolicies } from "./fleet-policies.js";
import { GatheredMetrics } from "./gathered-metrics.js";
import { GatheredShadows } from "./gathered-shadows.js";
import { withSmallYoungGeneration } from "./heap.js";
import type { ProblemReport, ToPrimary } from "./messages.js";
import { roomForConnections } from "./open-files.js";
import type { ServeSettings } from "./settings.js";
import { delayFor, type HangUps, stopSignal } from "./signals.js";
import { urlOf } from "./url.js";

/** Longest time until a process serves a certificate: it takes milliseconds, but its main thread may be loading policies. */
const SECURE_WITHIN_MS = 60_000;

/** Holds the newest certificate. */
export class FleetCertificate {
  readonly #fleet: Pick<Fleet, "ask" | "tell" | "serving">;
  readonly #logger: Logger;
  #pair: CertificatePair | undefined;

  constructor(fleet: Pick<Fleet, "ask" | "tell" | "serving">, logger: Logger) {
    this.#fleet = fleet;
    this.#logger = logger;
  }

  /** Makes all processes serve it. Resolves when they do; a process that does not answer is treated as one that hangs, and will be replaced. */
  async secure(pair: CertificatePair): Promise<void> {
    this.#pair = pair;
    const { serving } = this.#fleet;
    const answers = await this.#fleet.ask(serving, SECURE_WITHIN_MS, (id) => ({ type: "secure", id, pair }));
    const late = [...answers.values()].filter((answer) => answer === "late").length;
    if (late > 0) this.#logger.error("not all processes serve the new certificate", { late });
  }

  /** Sends the certificate to a process that starts, or has started meanwhile. */
  tell(child: Child): void {
    this.#fleet.tell(child, { type: "secure", ...(this.#pair && { pair: this.#pair }) });
  }
}

/** Chooses the serving process that approves CertificateRequests: the first one with the policies of all, and when it ends, another. */
export class ApproverChoice {
  readonly #appoint: (child: Child) => void;
  #appointed: Child | undefined;

  /** @param appoint tells a process that it approves from now on, until it ends */
  constructor(appoint: (child: Child) => void) {
    this.#appoint = appoint;
  }

  /**
   * Appoints the first of these when none is appointed.
   * @param processes that serve the policies of all
   */
  among([child]: readonly Child[]): void {
    if (this.#appointed !== undefined || child === undefined) return;
    this.#appointed = child;
    this.#appoint(child);
  }

  /**
   * Notes the end of a process, which no longer approves.
   * @param others that can take its place
   */
  ended(child: Child, others: readonly Child[]): void {
    if (this.#appointed !== child) return;
    this.#appointed = undefined;
    this.among(others);
  }
}

/** Time in which processes must send their metrics: half of Prometheus' default time-out of a scrape. */
const COLLECT_WITHIN_MS = 5000;

/**
 * Serves until a signal stops it.
 * @param lostLines lines of its log that were dropped so far
 * @param push starts to push metrics over OTLP, if the settings ask for it
 * @param prefetch fetches modules before all processes load them; never rejects
 * @param began receives the port when all processes answer requests
 * @param startAgent starts the agent of a cluster, if the settings ask for one
 * @returns the reason why it can't serve, or undefined after an orderly stop
 */
export async function servePrimary(
  settings: ServeSettings,
  logger: Logger,
  lostLines: () => number,
  hangs: HangUps,
  push: (read: () => Promise<PushedMetrics>) => Promise<Push>,
  prefetch: () => Promise<void>,
  began: (port: number) => void,
  startAgent?: AgentStart,
): Promise<string | undefined> {
  const primary = new Primary(settings, logger, lostLines, prefetch, startAgent);
  return primary.run(hangs, push, began);
}

class Primary implements Serving, SecuredServing {
  readonly #settings: ServeSettings;
  readonly #logger: Logger;
  readonly #prefetch: () => Promise<void>;
  readonly #startAgent: AgentStart | undefined;
  #agent: Agent | undefined;
  readonly #policies: FleetPolicies;
  readonly #fleet: Fleet;
  readonly #certificate: FleetCertificate;
  readonly #metrics: GatheredMetrics;
  readonly shadows: GatheredShadows;
  /** The choice of the approving process; absent: CertificateRequests are not approved. */
  readonly #approver: ApproverChoice | undefined;
  /** Logged problems of a set of policies: all processes find the same. */
  #said = { generation: 0, lines: new Set<string>() };
  #files: readonly string[] = [];
  #stopping = false;

  constructor(
    settings: ServeSettings,
    logger: Logger,
    lostLines: () => number,
    prefetch: () => Promise<void>,
    startAgent: AgentStart | undefined,
  ) {
    this.#settings = settings;
    this.#logger = logger;
    this.#prefetch = prefetch;
    this.#startAgent = startAgent;
    this.#metrics = new GatheredMetrics(() => this.#collectMetrics());
    this.shadows = new GatheredShadows(() => this.#collect("collect-shadows", "their counts"));
    this.#metrics.totals.losses("log_lines_dropped", lostLines);
    this.#fleet = new Fleet({
      logger,
      generation: () => this.#policies.generation,
      heard: (child, message) => this.#hear(child, message),
      outdated: (child) => void this.#policies.catchUp(child),
      ended: (child) => {
        this.#approver?.ended(child, this.#fleet.current);
        // The last push has their metrics from the end of serving.
        if (this.#stopping) return;
        this.#metrics.ended(child.id);
        this.shadows.ended();
        this.#policies.ended(child);
      },
      replaced: (reason) => this.#metrics.totals.replaced(reason),
    });
    this.#policies = new FleetPolicies({
      ...{ fleet: this.#fleet, clock: SYSTEM_CLOCK, logger, prefetch },
      // A failed attempt had the same number: its problems must be logged again if they still exist.
      loading: (generation) => {
        this.#said = { generation, lines: new Set() };
      },
      served: () => this.#approver?.among(this.#fleet.current),
      loaded: (reports) => this.#agent?.loaded(reports),
    });
    this.#certificate = new FleetCertificate(this.#fleet, logger);
    if (settings.approve !== undefined)
      this.#approver = new ApproverChoice((child) => this.#fleet.tell(child, { type: "approve" }));
  }

  async run(
    hangs: HangUps,
    startPush: (read: () => Promise<PushedMetrics>) => Promise<Push>,
    began: (port: number) => void,
  ): Promise<string | undefined> {
    const { address, readinessPort, workers, watch, drainDelay, drainGrace, pushMetrics } = this.#settings;
    // Each process accepts for itself. With the default, this process accepts and hands connections on, and connections passed to a process that has
    // just died hang for ever.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ execArgv: withSmallYoungGeneration(process.execArgv, process.env.NODE_OPTIONS) });
    await this.#prefetch();
    let port = this.#settings.port;
    // All of them listen on the same one.
    const listens = (_: unknown, { port: bound }: { readonly port: number }): void => {
      port = bound;
    };
    cluster.once("listening", listens);
    const since = Date.now();
    const failure = await this.#fleet.start(workers);
    if (failure !== undefined) return failure;
    // Before readiness: a signal that comes with the first answer must find its handler, or it ends the process at once.
    const stopped = stopSignal();
    const maxConnections = roomForConnections();
    this.#agent = this.#startAgent?.(this, {
      gauge: (name, read) => this.#metrics.totals.gauge(name, read),
      auditResults: (read) => this.#metrics.totals.auditResults(read),
      breakGlass: (read) => this.#metrics.totals.breakGlass(read),
      rejections: () => this.#metrics.rejections(),
      certificateChanged: (step) => this.#metrics.totals.certificateChanged(step),
    });
    const probes: Listener = await listen({
      address,
      port: readinessPort,
      logger: this.#logger,
      // A process that has to be replaced needs file descriptors here, however many connections flood the probes.
      ...(maxConnections !== undefined && { maxConnections }),
      handler: probeHandler({
        ready: () => this.#ready(),
        unready: () => this.#agent?.unready,
        metricsText: this.#metrics.text,
      }),
    });
    const url = urlOf(this.#settings, port);
    this.#logger.info("all processes are serving", { processes: workers, url, readiness_port: probes.port });
    began(port);
    const paths = (): readonly string[] => (watch ? this.#files : []);
    const files = await watchFiles({ paths, changed: () => this.#reload(), since });
    hangs.reload(() => void files.force());
    const push = pushMetrics ? await startPush(() => this.#metrics.pushed()) : undefined;
    const signal = await stopped;
    this.#logger.info("stopping", { signal });
    this.#stopping = true;
    this.#policies.stop();
    files.close();
    void stopSignal().then(() => this.#fleet.stop(0, 0));
    const steppedDown = this.#agent?.stepDown();
    const { drained, gone } = this.#fleet.stop(delayFor(signal, drainDelay), drainGrace);
    await Promise.all([drained, steppedDown]);
    await this.#agent?.stop();
    await Promise.all([push?.stop(), gone]);
    await probes.close(0);
    this.#logger.info("stopped");
    return undefined;
  }

  /** Whether the server is ready: not while a process hangs, since requests on its connections wait until it is replaced. */
  #ready(): boolean {
    return !this.#stopping && this.#fleet.serving.length > 0 && this.#fleet.suspects.length === 0;
  }

  #hear(child: Child, message: ToPrimary): void {
    switch (message.type) {
      case "problems":
        this.#say(message);
        return;
      case "serving":
        this.#approver?.among(this.#fleet.current);
        this.#files = message.files;
        if (message.reports !== undefined) this.#policies.began(child, message.reports);
        // The certificate may have changed since the process asked.
        this.#certificate.tell(child);
        return;
      case "certificate-wanted":
        this.#certificate.tell(child);
        return;
      case "prepared":
        this.#files = message.files;
        return;
      case "series":
        this.#metrics.add(message);
        return;
      case "collected":
      case "drained":
        this.#metrics.latest(child.id, message.snapshot);
        return;
      case "collected-shadows":
        this.shadows.add(message.rows);
        return;
      case "shadows-wanted":
        void this.shadows.rows().then((rows) => this.#fleet.tell(child, { type: "shadows", id: message.id, rows }));
        return;
      case "begin-wanted":
        this.#policies.begin(child, message.known);
        return;
      case "load-wanted":
        this.#policies.tryAgain();
        return;
      case "metrics-wanted":
        void this.#sendMetrics(child, message.id);
        return;
      default:
        return;
    }
  }

  /** Logs problems that no other process has reported of the same set. */
  #say({ generation, problems }: ProblemReport): void {
    if (this.#said.generation !== generation) this.#said = { generation, lines: new Set() };
    const { lines } = this.#said;
    for (const { level, line } of problems) {
      if (!lines.has(line)) this.#logger.log(level, line);
      lines.add(line);
    }
  }

  /** Makes all processes load the files anew. */
  async #reload(): Promise<void> {
    const result = await this.#policies.reload();
    if (result !== undefined) this.#metrics.totals.reloaded(result);
  }

  get evaluations(): number {
    return this.#fleet.evaluations;
  }

  /** Makes all processes serve changes of the cluster. */
  serve(delta: ClusterDelta, state: ClusterState): Promise<readonly LoadedPolicyReport[]> {
    return this.#policies.serve(delta, state);
  }

  /** Makes all processes serve this certificate. */
  secure(pair: CertificatePair): Promise<void> {
    return this.#certificate.secure(pair);
  }

  async #collectMetrics(): Promise<string | undefined> {
    if (this.#fleet.serving.length === 0 && !this.#stopping) return "no metrics: no process is serving";
    const missing = await this.#collect("collect", "theirs");
    return missing && `no metrics: ${missing}`;
  }

  /** @returns the reason why some processes have not sent their counts */
  async #collect(type: "collect" | "collect-shadows", what: string): Promise<string | undefined> {
    const { serving } = this.#fleet;
    const answers = await this.#fleet.ask(serving, COLLECT_WITHIN_MS, (id) => ({ type, id }));
    const missing = [...answers.values()].filter((answer) => answer === "gone" || answer === "late").length;
    return missing === 0
      ? undefined
      : `${missing} of ${serving.length} serving processes did not hand over ${what} within ${COLLECT_WITHIN_MS} ms`;
  }

  async #sendMetrics(child: Child, id: number): Promise<void> {
    const text = await this.#metrics.text();
    if ("unavailable" in text) {
      this.#fleet.tell(child, { type: "metrics-unavailable", id, reason: text.unavailable });
      return;
    }
    const slices = new Slices();
    for (const [index, part] of text.parts.entries()) {
      this.#fleet.tell(child, { type: "metrics-text", id, part, last: index === text.parts.length - 1 });
      if (slices.over()) await slices.rest();
    }
  }
}
