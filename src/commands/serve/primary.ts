/**
 * `serve` on all cores: this process starts others that answer requests, replaces those that die or hang, has them reload in one step, adds up
 * their metrics, and answers the probes.
 */
import cluster from "node:cluster";
import { watchFiles } from "../../server/file-watch.js";
import { type Listener, listen } from "../../server/listener.js";
import { probeHandler } from "../../server/plain-routes.js";
import type { Logger } from "../../telemetry/logger.js";
import type { PushedMetrics } from "../../telemetry/otlp/metric-data.js";
import type { Push } from "../../telemetry/otlp/metrics-push.js";
import { Slices } from "../../telemetry/slices.js";
import { Appointment } from "./appointment.js";
import { type Answer, type Child, Fleet } from "./fleet.js";
import { GatheredMetrics } from "./gathered-metrics.js";
import { GatheredShadows } from "./gathered-shadows.js";
import { withSmallYoungGeneration } from "./heap.js";
import type { ProblemReport, ToPrimary } from "./messages.js";
import { roomForConnections } from "./open-files.js";
import type { ServeSettings } from "./settings.js";
import { delayFor, type HangUps, stopSignal } from "./signals.js";

/** How long processes may take to hand over their metrics: half of what Prometheus waits for a scrape by default. */
const COLLECT_WITHIN_MS = 5000;
/** How long a process may take to load policies anew: modules are fetched meanwhile, each with time-outs of its own. */
const PREPARE_WITHIN_MS = 300_000;

/**
 * Serves until a signal says stop.
 * @param lostLines lines of its log that were dropped so far
 * @param push starts to push metrics over OTLP, if the settings want it
 * @param prefetch fetches modules before all processes load them; never rejects
 * @returns what keeps it from serving, or undefined after an orderly stop
 */
export async function servePrimary(
  settings: ServeSettings,
  logger: Logger,
  lostLines: () => number,
  hangs: HangUps,
  push: (read: () => Promise<PushedMetrics>) => Promise<Push>,
  prefetch: () => Promise<void>,
): Promise<string | undefined> {
  const primary = new Primary(settings, logger, lostLines, prefetch);
  return primary.run(hangs, push);
}

class Primary {
  readonly #settings: ServeSettings;
  readonly #logger: Logger;
  readonly #prefetch: () => Promise<void>;
  readonly #fleet: Fleet;
  readonly #metrics: GatheredMetrics;
  readonly #shadows: GatheredShadows;
  /** Absent: nobody approves CertificateRequests. */
  readonly #approver: Appointment | undefined;
  /** What was said of a set of policies: its processes all find the same wrong with it. */
  #said = { generation: 0, lines: new Set<string>() };
  #files: readonly string[] = [];
  /** Of the policies that all processes serve. */
  #generation = 1;
  #stopping = false;
  /** Ends when no process is told to load anything any more: one set at a time. */
  #updated: Promise<unknown> = Promise.resolve();

  constructor(settings: ServeSettings, logger: Logger, lostLines: () => number, prefetch: () => Promise<void>) {
    this.#settings = settings;
    this.#logger = logger;
    this.#prefetch = prefetch;
    this.#metrics = new GatheredMetrics(() => this.#collect());
    this.#shadows = new GatheredShadows(() => this.#collectShadows());
    this.#metrics.totals.gauge("log_lines_dropped", lostLines);
    this.#fleet = new Fleet({
      logger,
      generation: () => this.#generation,
      heard: (child, message) => this.#hear(child, message),
      outdated: (child) => void this.#catchUp(child),
      ended: (child) => {
        this.#approver?.ended(child, this.#fleet.current);
        // The last push shows what they had when all of this ends.
        if (this.#stopping) return;
        this.#metrics.ended(child.id);
        this.#shadows.ended();
      },
      replaced: (reason) => this.#metrics.totals.replaced(reason),
    });
    if (settings.approve !== undefined)
      this.#approver = new Appointment((child) => this.#fleet.tell(child, { type: "approve" }));
  }

  async run(
    hangs: HangUps,
    startPush: (read: () => Promise<PushedMetrics>) => Promise<Push>,
  ): Promise<string | undefined> {
    const { address, readinessPort, workers, watch, drainDelay, drainGrace, pushMetrics } = this.#settings;
    // Each process accepts for itself. With the default, this process accepts and hands connections on, and those handed to a process that has just
    // died hang for ever.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ execArgv: withSmallYoungGeneration(process.execArgv, process.env.NODE_OPTIONS) });
    await this.#prefetch();
    const failure = await this.#fleet.start(workers);
    if (failure !== undefined) return failure;
    // Before readiness: a signal that comes with the first answer must find its handler, or it ends the process at once.
    const stopped = stopSignal();
    const maxConnections = roomForConnections();
    const probes: Listener = await listen({
      address,
      port: readinessPort,
      logger: this.#logger,
      // A process that has to be replaced needs file descriptors here, whoever floods the probes.
      ...(maxConnections !== undefined && { maxConnections }),
      handler: probeHandler({ ready: () => this.#ready(), metricsText: this.#metrics.text }),
    });
    this.#logger.info("all processes are serving", { processes: workers, readiness_port: probes.port });
    const files = await watchFiles({ paths: () => (watch ? this.#files : []), changed: () => this.#reload() });
    hangs.reload(() => void files.force());
    const push = pushMetrics ? await startPush(() => this.#metrics.pushed()) : undefined;
    const signal = await stopped;
    this.#logger.info("stopping", { signal });
    this.#stopping = true;
    files.close();
    void stopSignal().then(() => this.#fleet.stop(0, 0));
    const { drained, gone } = this.#fleet.stop(delayFor(signal, drainDelay), drainGrace);
    await drained;
    await Promise.all([push?.stop(), gone]);
    await probes.close(0);
    this.#logger.info("stopped");
    return undefined;
  }

  /** Not while a process hangs: requests on the connections that it has accepted wait until it is replaced. */
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
        this.#shadows.add(message.rows);
        return;
      case "shadows-wanted":
        void this.#shadows.rows().then((rows) => this.#fleet.tell(child, { type: "shadows", id: message.id, rows }));
        return;
      case "metrics-wanted":
        void this.#sendMetrics(child, message.id);
        return;
      default:
        return;
    }
  }

  /** Logs what no other process has said of the same set. */
  #say({ generation, problems }: ProblemReport): void {
    if (this.#said.generation !== generation) this.#said = { generation, lines: new Set() };
    const { lines } = this.#said;
    for (const { level, line } of problems) {
      if (!lines.has(line)) this.#logger.log(level, line);
      lines.add(line);
    }
  }

  /** Every process loads the new policies; only when all could, all serve them. */
  async #reload(): Promise<void> {
    const generation = this.#generation + 1;
    // An attempt that failed had the same number: what was wrong then and still is must be said again.
    this.#said = { generation, lines: new Set() };
    await this.#prefetch();
    const applied = await this.#inTurn(async () => {
      const { serving } = this.#fleet;
      if (serving.length > 0) return this.#update(serving, generation);
      this.#logger.warn("no process is serving that could reload: those that start serve what is in the files");
      // Those that start may have read them before they changed: they catch up.
      this.#generation = generation;
      return undefined;
    });
    if (applied !== undefined) this.#metrics.totals.reloaded(applied ? "applied" : "rejected");
    if (applied === false) return;
    this.#fleet.release();
    // Those that were starting meanwhile may have loaded what was there before.
    for (const child of this.#fleet.outdated) void this.#catchUp(child);
  }

  /** Has a process serve what all others serve, when it doesn't. */
  async #catchUp(child: Child): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#fleet.outdated.includes(child)) await this.#update([child], this.#generation);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#updated.then(work);
    this.#updated = turn.catch(() => {});
    return turn;
  }

  /**
   * Has processes load what there is, and serve it when all could.
   * @returns whether they serve it
   */
  async #update(children: readonly Child[], generation: number): Promise<boolean> {
    const answers = await this.#fleet.ask(children, PREPARE_WITHIN_MS, (id) => ({ type: "prepare", id, generation }));
    const all = [...answers];
    // One that died or hangs has no say: its successor loads what is there.
    const good =
      all.some(isPrepared) && all.every((asked) => isPrepared(asked) || asked[1] === "gone" || isLate(asked));
    if (!good && all.some(isLate)) this.#logger.error("reload kept out: policies were not loaded in time");
    const objectors = all.filter((asked) => !isPrepared(asked) && asked[1] !== "gone").map(([child]) => child);
    if (!good && objectors.length > 0) this.#fleet.hold(objectors);
    if (good) this.#generation = generation;
    for (const asked of all) {
      const [child] = asked;
      if (good && isLate(asked)) this.#fleet.kill(child, "a serving process did not reload in time: it is killed");
      if (good) this.#fleet.serves(child, generation);
      this.#fleet.tell(child, { type: good ? "swap" : "discard" });
    }
    this.#approver?.among(this.#fleet.current);
    return good;
  }

  /** @returns why not all processes have handed over their metrics */
  async #collect(): Promise<string | undefined> {
    const { serving } = this.#fleet;
    if (serving.length === 0 && !this.#stopping) return "no metrics: no process is serving";
    const answers = await this.#fleet.ask(serving, COLLECT_WITHIN_MS, (id) => ({ type: "collect", id }));
    const missing = [...answers.values()].filter((answer) => answer === "gone" || answer === "late").length;
    return missing === 0
      ? undefined
      : `no metrics: ${missing} of ${serving.length} serving processes did not hand over theirs within ${COLLECT_WITHIN_MS} ms`;
  }

  /** @returns why not all processes have handed over what they counted of versions in shadow */
  async #collectShadows(): Promise<string | undefined> {
    const { serving } = this.#fleet;
    const answers = await this.#fleet.ask(serving, COLLECT_WITHIN_MS, (id) => ({ type: "collect-shadows", id }));
    const missing = [...answers.values()].filter((answer) => answer === "gone" || answer === "late").length;
    return missing === 0
      ? undefined
      : `${missing} of ${serving.length} serving processes did not hand over their counts within ${COLLECT_WITHIN_MS} ms`;
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

function isPrepared([, answer]: readonly [Child, Answer]): boolean {
  return typeof answer === "object" && answer.type === "prepared" && answer.ok;
}

function isLate([, answer]: readonly [Child, Answer]): boolean {
  return answer === "late";
}
