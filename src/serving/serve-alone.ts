import { setTimeout as sleep } from "node:timers/promises";
import type { CertificatePair, SecuredServing } from "../cluster/certificates/certificates.js";
import { type ClusterState, emptyOf, wholeOf } from "../cluster/cluster-state.js";
import type { Agent } from "../cluster/index.js";
import type { Serving, ShadowSource } from "../cluster/serving.js";
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import { watchFiles } from "../server/file-watch.js";
import type { AgentStart } from "./cluster-agent.js";
import { type ServingOptions, ServingProcess } from "./process.js";
import { delayFor, type HangUps, stopSignal } from "./signals.js";

/** Pause between two attempts to serve a state of the cluster that could not be loaded. */
const SERVE_AGAIN_MS = 1000;

/** The used part of the process. */
type Loading = Pick<ServingProcess, "prepare" | "swap" | "discard" | "secure" | "shadows">;

/** The only process, as the agent of a cluster sees it. */
export class ServedAlone implements Serving, SecuredServing {
  readonly #serving: Loading;
  readonly #inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** The cluster's state after the last delta; undefined while nothing is known. */
  #state: ClusterState | undefined;
  #stopping = false;
  /** This process' counts: they are lost only with the whole server. */
  readonly shadows: ShadowSource = { rows: async () => this.#serving.shadows.rows, lost: 0 };

  readonly #evaluated: () => number;

  /**
   * @param inTurn runs one load after the other, those of files included
   * @param evaluated evaluations so far
   */
  constructor(serving: Loading, inTurn: <T>(work: () => Promise<T>) => Promise<T>, evaluated: () => number) {
    this.#serving = serving;
    this.#inTurn = inTurn;
    this.#evaluated = evaluated;
  }

  get evaluations(): number {
    return this.#evaluated();
  }

  async serve(delta: ClusterDelta, state: ClusterState): Promise<readonly LoadedPolicyReport[]> {
    for (let first = true; !this.#stopping; first = false) {
      if (!first) await sleep(SERVE_AGAIN_MS);
      const taking = first;
      const reports = await this.#inTurn(() => {
        if (taking) this.#state = state;
        return this.#load(delta, state);
      });
      if (reports !== undefined) return reports;
    }
    return [];
  }

  /** Loads policies that failed before; undefined when nothing has changed. */
  async again(): Promise<readonly LoadedPolicyReport[] | undefined> {
    return this.#inTurn(async () => {
      const state = this.#stopping ? undefined : this.#state;
      return state && this.#load(emptyOf(state), state);
    });
  }

  async secure(pair: CertificatePair): Promise<void> {
    this.#serving.secure(pair);
  }

  /** Stops loading. */
  stop(): void {
    this.#stopping = true;
  }

  async #load(delta: ClusterDelta, state: ClusterState): Promise<readonly LoadedPolicyReport[] | undefined> {
    let prepared = await this.#serving.prepare(undefined, delta);
    if (prepared.needs === "whole") prepared = await this.#serving.prepare(undefined, wholeOf(state));
    if (prepared.ok) this.#serving.swap();
    else this.#serving.discard();
    return prepared.ok ? (prepared.reports ?? []) : undefined;
  }
}

/**
 * `serve` in one process: signals, files and the cluster decide when it reloads and stops.
 * @param startAgent starts the agent of a cluster, if the settings ask for one
 */
export async function serveAlone(options: ServingOptions, hangs: HangUps, startAgent?: AgentStart): Promise<void> {
  const { settings, logger, metrics } = options;
  // Before readiness: a signal that comes with the first answer must find its handler, or it ends the process at once.
  const stopped = stopSignal();
  let agent: Agent | undefined;
  let again = (): void => {};
  const unready = (): string | undefined =>
    startAgent !== undefined && agent === undefined ? "the cluster's policies are not known yet" : agent?.unready;
  const since = Date.now();
  const serving = await ServingProcess.start({ ...options, unready, loadWanted: () => again() });
  serving.approve();
  const inTurn = oneAfterTheOther();
  const reload = (): Promise<void> =>
    inTurn(async () => {
      const { ok, reports = [] } = await serving.prepare();
      if (ok) serving.swap();
      else serving.discard();
      // The cluster's policies whose ids the file has taken, or given up, have changed.
      if (ok) agent?.loaded(reports);
      metrics.reloaded(ok ? "applied" : "rejected");
    });
  const alone = new ServedAlone(serving, inTurn, () => metrics.evaluations);
  again = () => void alone.again().then((reports = []) => agent?.loaded(reports));
  agent = startAgent?.(alone, {
    gauge: (name, read) => metrics.gauge(name, read),
    auditResults: (read) => metrics.auditResults(read),
    breakGlass: (read) => metrics.breakGlass(read),
    rejections: async () => metrics.rejections(),
    certificateChanged: (step) => metrics.certificateChanged(step),
  });
  const watch = await watchFiles({
    paths: () => (settings.watch ? serving.files : []),
    changed: reload,
    since,
  });
  hangs.reload(() => void watch.force());
  const signal = await stopped;
  logger.info("stopping", { signal });
  watch.close();
  alone.stop();
  void stopSignal().then(() => serving.stop(0, 0));
  await Promise.all([agent?.stepDown(), serving.stop(delayFor(signal, settings.drainDelay), settings.drainGrace)]);
  await agent?.stop();
  logger.info("stopped");
}

/** Runs work one after the other, in the order of arrival. */
function oneAfterTheOther(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = turn.then(work);
    turn = next.catch(() => {});
    return next;
  };
}
