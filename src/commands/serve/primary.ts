/**
 * `serve` on all cores: this process starts others that answer requests, replaces those that die, has them reload in one step, adds up their
 * metrics, and answers the probes.
 */
import cluster, { type Worker } from "node:cluster";
import { AggregatorRegistry, type MetricObject, type Registry } from "prom-client";
import { createProbeApp } from "../../server/app.js";
import { watchFiles } from "../../server/file-watch.js";
import { type Listener, listen } from "../../server/listener.js";
import type { Logger } from "../../telemetry/logger.js";
import type { MetricsSnapshot } from "../../telemetry/otlp/metric-data.js";
import type { Push } from "../../telemetry/otlp/metrics-push.js";
import { STOP_WITHIN_MS } from "../../telemetry/otlp/stop-within.js";
import { GENERATION_VARIABLE, type ProblemReport, type ToPrimary, type ToWorker } from "./messages.js";
import type { ServeSettings } from "./settings.js";
import { delayFor, type HangUps, stopSignal } from "./signals.js";

/** How long a worker may take to answer before metrics are shown without it. */
const COLLECT_WITHIN_MS = 1000;
/** Pause before a process that died is replaced: one that dies at once must not be started in a tight loop. */
const RESTART_AFTER_MS = 500;
/** How much longer than its grace a worker may take to end before it is killed: twice what its exporters may take. */
const KILL_AFTER_MS = 2 * STOP_WITHIN_MS;

/**
 * Serves until a signal says stop.
 * @param push starts to push metrics over OTLP, if the settings want it
 * @param prefetch fetches modules before all processes load them; never rejects
 * @returns what keeps it from serving, or undefined after an orderly stop
 */
export async function servePrimary(
  settings: ServeSettings,
  logger: Logger,
  hangs: HangUps,
  push: (read: () => Promise<MetricsSnapshot>) => Promise<Push>,
  prefetch: () => Promise<void>,
): Promise<string | undefined> {
  const primary = new Primary(settings, logger, prefetch);
  return primary.run(hangs, push);
}

class Primary {
  readonly #settings: ServeSettings;
  readonly #logger: Logger;
  readonly #prefetch: () => Promise<void>;
  readonly #serving = new Set<Worker>();
  /** Metrics of those that serve no more because all of this ends. */
  readonly #last: MetricsSnapshot[] = [];
  /** Answers awaited from workers, by worker and question. */
  readonly #awaited = new Map<string, (answer: ToPrimary | undefined) => void>();
  /** What was said of a set of policies: its processes all find the same wrong with it. */
  #said = { generation: 0, lines: new Set<string>() };
  #questions = 0;
  #files: readonly string[] = [];
  /** Of the policies that all processes serve. */
  #generation = 1;
  #stopping = false;

  constructor(settings: ServeSettings, logger: Logger, prefetch: () => Promise<void>) {
    this.#settings = settings;
    this.#logger = logger;
    this.#prefetch = prefetch;
  }

  async run(
    hangs: HangUps,
    startPush: (read: () => Promise<MetricsSnapshot>) => Promise<Push>,
  ): Promise<string | undefined> {
    const { address, readinessPort, workers, watch, drainDelay, drainGrace, pushMetrics } = this.#settings;
    // Each process accepts for itself. With the default, this process accepts and hands connections on, and those handed to a process that has just
    // died hang for ever.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    await this.#prefetch();
    const failure = await this.#startAll(workers);
    if (failure !== undefined) {
      this.#stopping = true;
      for (const worker of Object.values(cluster.workers ?? {})) worker?.kill("SIGKILL");
      return failure;
    }
    // Before readiness: a signal that comes with the first answer must find its handler, or it ends the process at once.
    const stopped = stopSignal();
    const ready = (): boolean => !this.#stopping && this.#serving.size > 0;
    const probes: Listener = await listen({
      address,
      port: readinessPort,
      handler: createProbeApp({ ready, metricsText: () => this.#metricsText() }),
    });
    this.#logger.info("all processes are serving", { processes: workers, readiness_port: probes.port });
    const files = await watchFiles({ paths: () => (watch ? this.#files : []), changed: () => this.#reload() });
    hangs.reload(() => void files.force());
    const push = pushMetrics ? await startPush(async () => (await this.#metrics()).getMetricsAsJSON()) : undefined;
    const signal = await stopped;
    this.#logger.info("stopping", { signal });
    this.#stopping = true;
    files.close();
    void stopSignal().then(() => this.#stopAll(0, 0));
    const { drained, gone } = this.#stopAll(delayFor(signal, drainDelay), drainGrace);
    await drained;
    await Promise.all([push?.stop(), gone]);
    await probes.close(0);
    this.#logger.info("stopped");
    return undefined;
  }

  /** Resolves when all serve, or with the first failure. */
  #startAll(count: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      let starting = count;
      const started = (failure: string | undefined): void => {
        starting -= 1;
        if (failure !== undefined || starting === 0) resolve(failure);
      };
      for (let i = 0; i < count; i++) this.#start(started);
    });
  }

  #start(started: (failure: string | undefined) => void): void {
    const worker = cluster.fork({ [GENERATION_VARIABLE]: String(this.#generation) });
    let failure: string | undefined;
    worker.on("message", (message: ToPrimary) => {
      if (message.type === "failed") failure = message.message;
      if (message.type === "serving") {
        this.#serving.add(worker);
        started(undefined);
      }
      this.#hear(worker, message);
    });
    worker.on("exit", (code, signal) => {
      const served = this.#serving.delete(worker);
      for (const [key, answer] of this.#awaited) if (key.startsWith(`${worker.id}/`)) answer(undefined);
      if (!served) started(failure ?? `a serving process ended before it was ready (${signal ?? code})`);
      if (this.#stopping || (!served && this.#serving.size === 0)) return;
      this.#logger.error("a serving process died and is replaced", { process: worker.process.pid, code, signal });
      setTimeout(() => {
        if (!this.#stopping) this.#start(() => {});
      }, RESTART_AFTER_MS).unref();
    });
  }

  #hear(worker: Worker, message: ToPrimary): void {
    switch (message.type) {
      case "problems":
        this.#say(message);
        return;
      case "serving":
      case "swapped":
        this.#files = message.files;
        return;
      case "prepared":
      case "collected":
        this.#awaited.get(`${worker.id}/${message.id}`)?.(message);
        return;
      case "metrics-wanted":
        void this.#metricsText().then((text) => tell(worker, { type: "metrics-text", id: message.id, text }));
        return;
      case "drained":
        this.#serving.delete(worker);
        this.#last.push(message.snapshot);
        return;
      case "failed":
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

  /** Asks every serving process; those that die, or are late, answer undefined. */
  #ask(question: (id: number) => ToWorker, within?: number): Promise<(ToPrimary | undefined)[]> {
    const id = this.#questions++;
    return Promise.all(
      Array.from(this.#serving, (worker) => {
        const key = `${worker.id}/${id}`;
        return new Promise<ToPrimary | undefined>((resolve) => {
          const settle = (answer: ToPrimary | undefined): void => {
            clearTimeout(timer);
            this.#awaited.delete(key);
            resolve(answer);
          };
          const timer = within === undefined ? undefined : setTimeout(() => settle(undefined), within);
          this.#awaited.set(key, settle);
          tell(worker, question(id));
        });
      }),
    );
  }

  /** Every process loads the new policies; only when all could, all serve them. */
  async #reload(): Promise<void> {
    const generation = this.#generation + 1;
    // An attempt that failed had the same number: what was wrong then and still is must be said again.
    this.#said = { generation, lines: new Set() };
    await this.#prefetch();
    const answers = await this.#ask((id) => ({ type: "prepare", id, generation }));
    // One that died meanwhile has no say: its successor loads what is there.
    const good = answers.some(isPrepared) && answers.every((answer) => answer === undefined || isPrepared(answer));
    if (good) this.#generation = generation;
    for (const worker of this.#serving) tell(worker, { type: good ? "swap" : "discard" });
  }

  async #metricsText(): Promise<string> {
    return (await this.#metrics()).metrics();
  }

  async #metrics(): Promise<Registry> {
    const answers = await this.#ask((id) => ({ type: "collect", id }), COLLECT_WITHIN_MS);
    const snapshots = [...this.#last];
    for (const answer of answers) if (answer?.type === "collected") snapshots.push(answer.snapshot);
    return AggregatorRegistry.aggregate(snapshots.map((snapshot): MetricObject[] => [...snapshot]));
  }

  /** When no process answers requests any more, and when none is left. */
  #stopAll(delay: number, grace: number): { readonly drained: Promise<unknown>; readonly gone: Promise<unknown> } {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const gone: Promise<void>[] = [];
    const drained = workers.map((worker) => {
      const exited = new Promise<void>((resolve) => {
        const kill = setTimeout(() => worker.kill("SIGKILL"), delay + grace + KILL_AFTER_MS);
        worker.once("exit", () => {
          clearTimeout(kill);
          resolve();
        });
      });
      gone.push(exited);
      const told = new Promise<void>((resolve) => {
        worker.on("message", ({ type }: ToPrimary) => {
          if (type === "drained") resolve();
        });
      });
      tell(worker, { type: "stop", delay, grace });
      return Promise.race([told, exited]);
    });
    return { drained: Promise.all(drained), gone: Promise.all(gone) };
  }
}

function isPrepared(answer: ToPrimary | undefined): boolean {
  return answer?.type === "prepared" && answer.ok;
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
