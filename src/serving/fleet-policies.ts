/** Makes all processes serve the same policies: those of the files and those of the cluster, one load after the other. */

import { setTimeout as sleep } from "node:timers/promises";
import { type ClusterState, emptyOf, wholeOf } from "../cluster/cluster-state.js";
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { Clock } from "../data/clock.js";
import type { Logger } from "../telemetry/logger.js";
import type { Child, Fleet } from "./fleet.js";
import { GatheredReports } from "./gathered-reports.js";
import { isLate, isPrepared, type LoadedByProcess, loadedBy, preparedBy } from "./prepared-answers.js";

/** Longest time for loading policies anew: modules are fetched meanwhile, each with time-outs of its own. */
const PREPARE_WITHIN_MS = 300_000;

/** Longest wait for the process that fetches modules first: a registry that does not answer must not delay the start twice. */
const HEAD_START_MS = 20_000;

/** Longest time until a process confirms a swap: longer than anything holds its main thread. A process that hangs is replaced. */
const SWAP_WITHIN_MS = 10_000;

/**
 * Makes processes load and serve a delta of the cluster. Processes refuse no state, so that one bad policy does not delay others. A process that
 * still can't load it is ended, when others can, and its successor starts with the whole state.
 * @param state the cluster's after the delta
 * @param generation of the set with the delta
 * @returns reports of the processes that serve it now
 */
export async function updateFromCluster(
  fleet: Pick<Fleet, "ask" | "tell" | "kill">,
  children: readonly Child[],
  delta: ClusterDelta,
  state: ClusterState,
  generation: number,
): Promise<ReadonlyMap<Child, LoadedByProcess>> {
  const ask = (whom: readonly Child[], what: ClusterDelta) =>
    fleet.ask(whom, PREPARE_WITHIN_MS, (id) => ({ type: "prepare", id, generation, delta: what }));
  // The others find the first one's modules in the download folder, which is empty at first.
  const first = namesModules(delta) ? 1 : children.length;
  const begun = ask(children.slice(0, first), delta);
  if (first < children.length) await headStart(begun);
  const others = await ask(children.slice(first), delta);
  const answers = new Map([...(await begun), ...others]);
  const lacking = [...answers].filter(([, answer]) => preparedBy(answer)?.needs === "whole").map(([child]) => child);
  if (lacking.length > 0) for (const [child, answer] of await ask(lacking, wholeOf(state))) answers.set(child, answer);
  const able = new Map<Child, LoadedByProcess>();
  for (const [child, answer] of answers) {
    const loaded = preparedBy(answer);
    const isWhole = delta.base === 0 || lacking.includes(child);
    if (loaded?.ok === true) able.set(child, { reports: loaded.reports ?? [], isWhole });
  }
  for (const [child, answer] of answers) {
    if (able.has(child) || answer === "gone") continue;
    fleet.tell(child, { type: "discard" });
    if (able.size > 0) fleet.kill(child, "a serving process could not load the cluster's policies: it is killed");
  }
  // The policies' status and webhooks follow: the policies must be served by then.
  await fleet.ask([...able.keys()], SWAP_WITHIN_MS, (id) => ({ type: "swap", id }));
  return able;
}

/** Resolves with the work, or after the head start. */
async function headStart(work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const late = sleep(HEAD_START_MS, undefined, { signal: done.signal }).catch(() => {});
  await Promise.race([work, late]);
  done.abort();
}

/** Whether the whole state is loaded, with modules from registries. Later modules come one by one. */
const namesModules = ({ base, put }: ClusterDelta): boolean =>
  base === 0 && put.some(({ text }) => text.includes('"module": "'));

/** Pause between two attempts to serve a state of the cluster, while no process can. */
const SERVE_AGAIN_MS = 1000;
/** Time to collect processes that report at about the same time that something can now be loaded. */
const TRY_AGAIN_MS = 200;

/** The used part of the fleet. */
type Processes = Pick<
  Fleet,
  "ask" | "tell" | "kill" | "serves" | "hold" | "release" | "serving" | "outdated" | "current"
>;

/** Options and callbacks. */
export interface FleetPoliciesOptions {
  readonly fleet: Processes;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Logger;
  /** Fetches modules before all processes load them; never rejects. */
  readonly prefetch: () => Promise<void>;
  /** Called when all processes are about to load the files as this generation: earlier messages about one with the same number no longer count. */
  readonly loading: (generation: number) => void;
  /** Called when processes may serve other policies than before. */
  readonly served: () => void;
  /** Receives states of policies of the cluster. */
  readonly loaded: (reports: readonly LoadedPolicyReport[]) => void;
}

/** The policies of all processes. */
export class FleetPolicies {
  readonly #options: FleetPoliciesOptions;
  /** The cluster's state after the last delta; undefined while nothing is known. */
  #state: ClusterState | undefined;
  readonly #reports = new GatheredReports();
  #generation = 1;
  /** Whether a retry of failed loads is scheduled. */
  #trying = false;
  #stopping = false;
  /** Resolves after the last load: processes load one set at a time. */
  #updated: Promise<unknown> = Promise.resolve();

  constructor(options: FleetPoliciesOptions) {
    this.#options = options;
  }

  /** The generation of the policies that all processes serve. */
  get generation(): number {
    return this.#generation;
  }

  /** Sends the cluster's state to a process that starts, unless it has that version. */
  begin(child: Child, known: number): void {
    const state = this.#state;
    const delta = state === undefined || state.version === known ? undefined : wholeOf(state);
    this.#options.fleet.tell(child, { type: "begin", ...(delta && { delta }) });
  }

  /** Notes that a process serves. @param reports states of all policies that the cluster had when it started */
  began(child: Child, reports: readonly LoadedPolicyReport[]): void {
    this.#options.loaded(this.#reports.take([[child, { reports, isWhole: true }]]));
  }

  /** Notes the end of a process. */
  ended({ id }: Child): void {
    this.#options.loaded(this.#reports.ended(id));
  }

  /** Stops loading. */
  stop(): void {
    this.#stopping = true;
  }

  /**
   * Makes every process load the files; all serve them only when all could.
   * @returns undefined: there was no process
   */
  async reload(): Promise<"applied" | "rejected" | undefined> {
    const { fleet, prefetch, loading, logger } = this.#options;
    await prefetch();
    const applied = await this.#inTurn(async () => {
      const generation = this.#generation + 1;
      loading(generation);
      const { serving } = fleet;
      if (serving.length > 0) return this.#update(serving, generation);
      logger.warn("no process is serving that could reload: those that start serve what is in the files");
      // Starting processes may have read them before they changed: they catch up.
      this.#generation = generation;
      return undefined;
    });
    if (applied === false) return "rejected";
    fleet.release();
    // Processes that were starting meanwhile may have loaded the old files.
    this.#catchAllUp();
    return applied && "applied";
  }

  /** Makes a process serve the policies of all others, if it doesn't. */
  async catchUp(child: Child): Promise<void> {
    const { fleet, loaded } = this.#options;
    await this.#inTurn(async () => {
      if (!fleet.outdated.includes(child)) return;
      const state = this.#state;
      // The cluster's first: rejected files must not keep out the cluster's policies, too.
      const able = state && (await updateFromCluster(fleet, [child], wholeOf(state), state, this.#generation));
      if (able?.size === 0 && fleet.current.length > 0)
        fleet.kill(child, "a serving process could not load the cluster's policies: it is killed");
      loaded(this.#reports.take(able ?? []));
      await this.#update([child], this.#generation);
    });
  }

  /** Makes all processes serve changes of the cluster, as soon as one of them can. */
  async serve(delta: ClusterDelta, state: ClusterState): Promise<readonly LoadedPolicyReport[]> {
    for (let first = true; !this.#stopping; first = false) {
      if (!first) await this.#pause();
      const isNew = first;
      const reports = await this.#inTurn(() => {
        if (isNew) this.#state = state;
        return this.#updateAll(delta, state);
      });
      if (reports !== undefined) return reports;
    }
    return [];
  }

  /** Retries a failed load that can succeed now, once for all processes that report it. */
  tryAgain(): void {
    if (this.#trying) return;
    this.#trying = true;
    this.#options.clock.after(TRY_AGAIN_MS, () => {
      this.#trying = false;
      void this.#inTurn(async () => {
        const state = this.#state;
        return state && this.#updateAll(emptyOf(state), state);
      }).then((reports = []) => this.#options.loaded(reports));
    });
  }

  /** @returns undefined: no process serves it */
  async #updateAll(delta: ClusterDelta, state: ClusterState): Promise<readonly LoadedPolicyReport[] | undefined> {
    const { fleet, logger, served } = this.#options;
    const { serving, outdated } = fleet;
    if (serving.length === 0 || this.#stopping) return undefined;
    const generation = this.#generation + 1;
    const able = await updateFromCluster(fleet, serving, delta, state, generation);
    if (able.size === 0) {
      logger.error("no process could load the cluster's policies: what was served before goes on being served");
      return undefined;
    }
    this.#generation = generation;
    // A process that has not caught up with the files yet still has to.
    for (const child of able.keys()) if (!outdated.includes(child)) fleet.serves(child, generation);
    served();
    this.#catchAllUp();
    this.#reports.keepOnly((key) => state.documents.has(key));
    return this.#reports.take(able);
  }

  /**
   * Makes processes load the files, and serve them when all could.
   * @returns whether they serve it
   */
  async #update(children: readonly Child[], generation: number): Promise<boolean> {
    const { fleet, logger, served, loaded } = this.#options;
    const answers = await fleet.ask(children, PREPARE_WITHIN_MS, (id) => ({ type: "prepare", id, generation }));
    const all = [...answers];
    // A process that died or hangs does not count: its successor loads the present files.
    const good =
      all.some(isPrepared) && all.every((asked) => isPrepared(asked) || asked[1] === "gone" || isLate(asked));
    if (!good && all.some(isLate)) logger.error("reload kept out: policies were not loaded in time");
    const objectors = all.filter((asked) => !isPrepared(asked) && asked[1] !== "gone").map(([child]) => child);
    if (!good && objectors.length > 0) fleet.hold(objectors);
    if (good) this.#generation = generation;
    for (const asked of all) {
      const [child] = asked;
      if (good && isLate(asked)) fleet.kill(child, "a serving process did not reload in time: it is killed");
      if (good) fleet.serves(child, generation);
      fleet.tell(child, { type: good ? "swap" : "discard" });
    }
    // The cluster's policies whose ids the files have taken, or given up, have changed.
    if (good) loaded(this.#reports.take(all.flatMap(loadedBy)));
    served();
    return good;
  }

  #catchAllUp(): void {
    for (const child of this.#options.fleet.outdated) void this.catchUp(child);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(SERVE_AGAIN_MS, resolve));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#updated.then(work);
    this.#updated = turn.catch(() => {});
    return turn;
  }
}
