/** Loads the policies of a cluster one by one: an unchanged one is kept, a broken one keeps its version before, and a slow one delays no other. */
import { setFlagsFromString } from "node:v8";
import type {
  ClusterEntries,
  ClusterEntry,
  EntryDocument,
  LoadedPolicyReport,
} from "../../config/from-cluster/index.js";
import type { Config, Problem } from "../../config/index.js";
import type { Clock } from "../../data/clock.js";
import { shownText, wholeText } from "../../data/public-text.js";
import type { ModuleFetcher } from "../../fetch/index.js";
import { confined } from "../../kinds/confined-policy.js";
import { createUnavailablePolicy } from "../../kinds/unavailable-policy.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { LoadedConfig } from "../loader.js";
import { downloads } from "../prefetch.js";
import { type LoadedVersion, PolicyState } from "./policy-state.js";

/** How long changes wait for a module that has to be fetched: a change should be served everywhere within a second. */
const PATIENCE_MS = 500;
/** How long the first ones wait: no requests come here before that, and the first request should find them loaded. */
const FIRST_PATIENCE_MS = 60_000;
/** How long a deleted policy is still answered for: webhooks name it until the API server has applied their change. */
export const RETIRED_MS = 60_000;
/** Pause before a module is fetched again, which doubles with each failure. */
const FIRST_RETRY_MS = 5_000;
/** Longest time between two tries: a module that is pushed late is served within five minutes. */
const LAST_RETRY_MS = 300_000;
/** Milliseconds of compiling after which requests have their turn. */
const TURN_MS = 10;
/** The state of a deleted policy that is still answered for. */
const GONE = "gone from the cluster: it is answered for until no webhook names it any more";

/** Options for loading a cluster's policies. */
export interface ClusterPoliciesOptions {
  readonly clock: Clock;
  /** A fetcher under the terms of these entries. */
  readonly fetcher: (entries: ClusterEntries) => ModuleFetcher;
  /**
   * Loads one entry. A rejection is a defect of the server, or a lack of memory or files: the policy denies, and is loaded again later.
   * @param warm takes work that is worth a short wait, but not needed
   */
  readonly load: (config: Config, fetcher: ModuleFetcher, warm: (work: Promise<void>) => void) => Promise<LoadedConfig>;
  /** The conditions beside its document by which a policy is loaded; when they change, all are loaded anew. */
  readonly conditions?: () => string;
  /** Called when the last result of {@link ClusterPolicies.load} has changed: a module has arrived, or a policy is no longer answered for. */
  readonly changed: () => void;
}

/** A policy that is not served because the policies file has its id. */
interface RefusedEntry {
  readonly id: string;
  readonly document: EntryDocument;
  readonly reason: string;
}

/** The result of loading a cluster's policies. */
export interface LoadedClusterPolicies {
  /** By id, members of groups behind their groups, and last deleted ones that are still answered for. */
  readonly served: readonly ServedPolicy[];
  /** Reports of policies that have changed since the last {@link LoadedClusterPolicies.taken}; of all after {@link ClusterPolicies.tellAll}. */
  readonly reports: readonly LoadedPolicyReport[];
  /** Problems of those policies, with places. */
  readonly problems: readonly Problem[];
  /** Whether the state of some is not known yet: their modules are being fetched. */
  readonly isWaiting: boolean;
  /** Must be called when these are served: their reports were delivered. */
  readonly taken: () => void;
}

/** Fetches under the terms of one load, kept while one of its attempts is under way. */
interface Batch {
  readonly fetcher: ModuleFetcher;
  readonly warm: Promise<void>[];
  attempts: number;
}

/** An attempt that is under way. */
interface Begun {
  readonly loaded: Promise<void>;
  /** Whether it waits for something outside of this process. */
  readonly isFetched: boolean;
  readonly leave: () => void;
}

/** Loads a cluster's policies, and holds them. */
export class ClusterPolicies {
  readonly #options: ClusterPoliciesOptions;
  readonly #states = new Map<string, PolicyState>();
  /** The reports that were taken, by key. */
  #told: ReadonlyMap<string, LoadedPolicyReport> = new Map();
  #refused = new Map<string, LoadedPolicyReport>();
  #entries: ClusterEntries | undefined;
  #closed = false;
  #tellsAll = false;

  constructor(options: ClusterPoliciesOptions) {
    this.#options = options;
  }

  /**
   * Loads what has changed. Never rejects.
   * @param isTaken whether the configuration has a policy of that id: it takes precedence over the cluster's
   * @param isFirst whether nothing of the cluster has been served yet
   */
  async load(all: ClusterEntries, isTaken: (id: string) => boolean, isFirst = false): Promise<LoadedClusterPolicies> {
    const patience = isFirst ? FIRST_PATIENCE_MS : PATIENCE_MS;
    this.#entries = all;
    const entries = all.entries.filter(({ id }) => !isTaken(id));
    this.#retire(new Set(entries.map(({ id }) => id)), isTaken);
    const batch = this.#batch(all);
    const slow: Promise<void>[] = [];
    const conditions = this.#options.conditions?.() ?? "";
    // The code of a first load runs once. Optimizing it, in other threads, would take a third of the processor time, and be of use when most is loaded.
    const isOnce = this.#states.size === 0;
    if (isOnce) setFlagsFromString("--no-opt");
    try {
      let turn = this.#options.clock.now();
      for (const entry of entries) {
        const state = this.#states.get(entry.id) ?? new PolicyState(entry);
        this.#states.set(entry.id, state);
        if (!state.want(entry, conditions)) continue;
        const begun = this.#begin(state, batch);
        if (begun.isFetched) slow.push(this.#within(patience, begun.loaded).then(begun.leave));
        // A policy that fetches nothing is compiled at its turn.
        else await begun.loaded;
        if (this.#options.clock.now() - turn < TURN_MS) continue;
        await new Promise((resolve) => setImmediate(resolve));
        turn = this.#options.clock.now();
      }
    } finally {
      if (isOnce) setFlagsFromString("--opt");
    }
    await this.#within(patience, Promise.all([...slow, ...batch.warm]));
    this.#done(batch);
    return this.#view(entries, namesakes(all.entries, isTaken));
  }

  /** Makes the next load report all policies, for a new listener. */
  tellAll(): void {
    this.#tellsAll = true;
  }

  /** Ends retries of modules. */
  close(): void {
    this.#closed = true;
    for (const state of this.#states.values()) state.cancel?.();
    this.#states.clear();
  }

  #retire(ids: ReadonlySet<string>, isTaken: (id: string) => boolean): void {
    const { clock, changed } = this.#options;
    for (const [id, state] of this.#states) {
      if (ids.has(id)) continue;
      if (isTaken(id) || (state.retiredUntil ?? Number.POSITIVE_INFINITY) <= clock.now()) {
        state.cancel?.();
        // Invalidates attempts that are still under way.
        state.attempt += 1;
        this.#states.delete(id);
      } else if (state.retiredUntil === undefined) {
        state.cancel?.();
        state.retiredUntil = clock.now() + RETIRED_MS;
        state.cancel = clock.after(RETIRED_MS, changed);
      }
    }
  }

  #batch(entries: ClusterEntries): Batch {
    return { fetcher: this.#options.fetcher(entries), warm: [], attempts: 1 };
  }

  #done(batch: Batch): void {
    batch.attempts -= 1;
    if (batch.attempts === 0) void batch.fetcher.close();
  }

  /** Begins to load the wanted version. After `leave`, the end of the attempt is reported by `changed`. */
  #begin(state: PolicyState, batch: Batch): Begun {
    state.cancel?.();
    state.attempt += 1;
    const { attempt } = state;
    const read = readEntry(state.wanted);
    batch.attempts += 1;
    let left = false;
    const loaded = this.#load(state.wanted, read, batch).then((version) => {
      this.#done(batch);
      if (attempt !== state.attempt || this.#closed) return;
      const isNew = state.found(version);
      if (version.unfetched) this.#tryAgain(state);
      if (left && isNew) this.#options.changed();
    });
    const leave = (): void => {
      left = true;
    };
    return { loaded, isFetched: downloads([read.entry]).length > 0, leave };
  }

  /** Loads a version. Never rejects: a rejection would keep all other policies from being served. */
  async #load(wanted: ClusterEntry, read: ReturnType<ClusterEntry["read"]>, batch: Batch): Promise<LoadedVersion> {
    const config: Config = { file: fileOf(wanted), entries: [read.entry], files: [] };
    let loaded: LoadedConfig;
    try {
      loaded = await this.#options.load(config, batch.fetcher, (work) => batch.warm.push(work));
    } catch (cause) {
      return failed(wanted, cause);
    }
    const served = [...loaded.policies.entries.values()];
    return {
      // An unreadable entry has no policies that would name its namespace.
      served: read.entry.kind === "invalid" ? served.map((each) => within(each, wanted)) : served,
      problems: [...read.problems, ...loaded.problems],
      unfetched: loaded.unfetched,
    };
  }

  /** Schedules another attempt in the background: loads of other changes do not wait for it. */
  #tryAgain(state: PolicyState): void {
    const { clock } = this.#options;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** state.failures, LAST_RETRY_MS);
    state.failures += 1;
    state.cancel = clock.after(wait, () => {
      if (this.#entries === undefined || this.#closed || state.retiredUntil !== undefined) return;
      const batch = this.#batch(this.#entries);
      this.#begin(state, batch).leave();
      this.#done(batch);
    });
  }

  /** Resolves with the work, or after these milliseconds. */
  #within(milliseconds: number, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(milliseconds, resolve);
      const done = (): void => {
        cancel();
        resolve();
      };
      work.then(done, done);
    });
  }

  #view(entries: readonly ClusterEntry[], refused: readonly RefusedEntry[]): LoadedClusterPolicies {
    const served: ServedPolicy[] = [];
    const now = new Map<string, LoadedPolicyReport>();
    const reports: LoadedPolicyReport[] = [];
    const problems: Problem[] = [];
    for (const { id } of entries) {
      const view = this.#states.get(id)?.view;
      if (view === undefined) continue;
      served.push(...view.served);
      for (const report of view.reports) now.set(report.key, report);
      const fresh = view.reports.filter((report) => this.#told.get(report.key) !== report);
      reports.push(...(this.#tellsAll ? view.reports : fresh));
      if (fresh.length > 0) problems.push(...view.problems);
    }
    for (const { retiredUntil, view } of this.#states.values()) {
      if (retiredUntil !== undefined) served.push(...view.served.map((each) => ({ ...each, outdated: GONE })));
    }
    const before = this.#refused;
    this.#refused = new Map();
    for (const each of refused) {
      const { key, generation, file } = each.document;
      const known = before.get(key);
      const isKnown = known?.generation === generation && known.problems[0]?.text === each.reason;
      const report = known !== undefined && isKnown ? known : refusal(each);
      this.#refused.set(key, report);
      now.set(key, report);
      const isFresh = this.#told.get(key) !== report;
      if (isFresh || this.#tellsAll) reports.push(report);
      if (!isFresh) continue;
      problems.push({ severity: "error", file, line: 1, column: 1, path: [], message: each.reason });
    }
    this.#tellsAll = false;
    const taken = (): void => {
      this.#told = now;
    };
    const isWaiting = [...this.#states.values()].some((state) => state.retiredUntil === undefined && state.isWaiting);
    return { served, reports, problems, isWaiting, taken };
  }
}

const fileOf = ({ policies }: ClusterEntry): string => policies[0]?.file ?? "";

const within = (served: ServedPolicy, { namespace }: ClusterEntry): ServedPolicy => ({
  ...served,
  policy: confined(served.policy, namespace),
});

const atWhole = (entry: ClusterEntry, cause: unknown): Problem => ({
  ...{ severity: "error", file: fileOf(entry), line: 1, column: 1, path: [] },
  message: wholeText(cause),
});

/** Reads an entry. A document that makes the reader throw must not keep others from being served. */
function readEntry(entry: ClusterEntry): ReturnType<ClusterEntry["read"]> {
  try {
    return entry.read();
  } catch (cause) {
    const problems = [atWhole(entry, cause)];
    return { entry: Object.freeze({ kind: "invalid", id: entry.id, problems }), problems };
  }
}

/** A version that denies, and is loaded again as one whose module could not be fetched. */
function failed(entry: ClusterEntry, cause: unknown): LoadedVersion {
  const { id } = entry;
  const reason = shownText(cause, "the policy could not be loaded: the server's log says why");
  const policy = createUnavailablePolicy(id, reason);
  const served: ServedPolicy = { id, policy, mode: "protect", allowedToMutate: false, unavailable: reason };
  return { served: [within(served, entry)], problems: [atWhole(entry, cause)], unfetched: true };
}

function namesakes(entries: readonly ClusterEntry[], isTaken: (id: string) => boolean): readonly RefusedEntry[] {
  return entries
    .filter(({ id }) => isTaken(id))
    .flatMap(({ id, policies }) => {
      const reason = `not served: the policies file has a policy of its id ${JSON.stringify(id)}`;
      return policies.map((document) => ({ id, document, reason }));
    });
}

const refusal = ({ id, document: { key, generation }, reason }: RefusedEntry): LoadedPolicyReport => ({
  id,
  key,
  generation,
  state: "refused",
  problems: [{ severity: "error", text: reason }],
});
