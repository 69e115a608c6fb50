/** Where the policies of an audit come from: a configuration, a cluster, or both; what has not changed stays as it is loaded. */
import {
  type ClusterDelta,
  ClusterDocuments,
  type ClusterEntries,
  type ClusterEntryOptions,
  ClusterEntryReader,
  Rollouts,
} from "../../config/from-cluster/index.js";
import { type Config, type ConfigEntry, formatProblem, type Problem } from "../../config/index.js";
import type { PolicyLoader } from "../../loader/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import {
  type AuditedPolicies,
  auditConfig,
  auditEntry,
  auditedConfig,
  auditedPolicies,
  type LoadedEntry,
} from "./audited-policies.js";
import { isOneOfSeveral } from "./one-policy-entries.js";

type ClusterPolicies = ReturnType<PolicyLoader["clusterPolicies"]>;
type LoadedClusterPolicies = Awaited<ReturnType<ClusterPolicies["load"]>>;

/** How long a round waits for modules: as long as a fetch may take. Policies whose modules come later are asked in the next one. */
const MODULES_MS = 120_000;

/** What came of loading. */
export interface LoadedAudit extends AuditedPolicies {
  /** Beyond those of the configuration. */
  readonly problems: readonly Problem[];
}

/** Policies of the background. */
export class AuditPolicySource {
  readonly #loader: PolicyLoader;
  readonly #documents = new ClusterDocuments();
  /** What is in shadow is not audited. */
  readonly #rollouts = new Rollouts();
  readonly #reader: ClusterEntryReader | undefined;
  readonly #cluster: ClusterPolicies | undefined;
  readonly #now: () => number;
  #file: Config | undefined;
  /** Ids of the file as it is served: they go before the cluster's. */
  #fileIds: ReadonlySet<string> = new Set();
  #loadedFile:
    | { readonly config: Config; readonly entries: readonly LoadedEntry[]; readonly problems: readonly Problem[] }
    | undefined;
  /** What each policy of the cluster was made of, by its id. */
  readonly #origins = new Map<string, { readonly policy: ServedPolicy["policy"]; readonly entry: ConfigEntry }>();
  /** Entries that were read since the last load, by id. */
  readonly #read = new Map<string, ConfigEntry>();

  /**
   * @param now monotonic milliseconds
   * @param options which policies of a cluster are ours; absent: none
   */
  constructor(loader: PolicyLoader, now: () => number, options?: ClusterEntryOptions) {
    this.#loader = loader;
    this.#now = now;
    if (options === undefined) return;
    this.#reader = new ClusterEntryReader(options);
    this.#cluster = loader.clusterPolicies(() => this.#changed());
  }

  /** Called when a module has come. */
  #changed = (): void => {};

  /** Takes a configuration in place of the one before. */
  useFile(config: Config | undefined): void {
    this.#file = config && auditedConfig(config);
    this.#fileIds = new Set(config?.entries.map(({ id }) => id));
  }

  /**
   * Takes what has changed in the cluster.
   * @returns false when it begins at another version than the one that is there
   */
  take(delta: ClusterDelta): boolean {
    if (!this.#documents.apply(delta)) return false;
    // Each version is looked at, not only those that a round meets: what was in force is known from the one before.
    this.#rollouts.update(this.#documents.documents);
    return true;
  }

  /** Loads what has changed; never rejects. */
  async load(): Promise<LoadedAudit> {
    const file = await this.#loadFile();
    const cluster = await this.#loadCluster((id) => this.#fileIds.has(id));
    const audited = auditedPolicies([...file.entries, ...cluster.entries]);
    return { ...audited, problems: [...file.problems, ...cluster.problems] };
  }

  /** Ends what waits for modules; the loader is not closed. */
  close(): void {
    this.#cluster?.close();
  }

  async #loadFile(): Promise<{ readonly entries: readonly LoadedEntry[]; readonly problems: readonly Problem[] }> {
    const config = this.#file;
    if (config === undefined) return { entries: [], problems: [] };
    if (this.#loadedFile?.config === config) return { ...this.#loadedFile, problems: [] };
    const { policies, problems } = await this.#loader.load(auditConfig(config));
    const entries = config.entries.flatMap((entry): LoadedEntry[] => {
      const served = policies.entries.get(entry.id);
      return served === undefined ? [] : [{ entry, served }];
    });
    this.#loadedFile = { config, entries, problems: problemsOf(config, problems) };
    return this.#loadedFile;
  }

  async #loadCluster(
    isTaken: (id: string) => boolean,
  ): Promise<{ readonly entries: readonly LoadedEntry[]; readonly problems: readonly Problem[] }> {
    if (this.#reader === undefined || this.#cluster === undefined) return { entries: [], problems: [] };
    const all = this.#reader.entries(this.#rollouts.inForce);
    this.#read.clear();
    const { served, problems } = await this.#whole(this.#cluster, all, isTaken);
    const wanted = new Set(all.entries.map(({ id }) => id));
    const entries = served.filter(({ id }) => wanted.has(id)).flatMap((each) => this.#entryOf(each));
    for (const id of this.#origins.keys()) if (!wanted.has(id)) this.#origins.delete(id);
    return { entries, problems };
  }

  /** Waits for modules, too: an audit is in no hurry. */
  async #whole(
    cluster: ClusterPolicies,
    all: ClusterEntries,
    isTaken: (id: string) => boolean,
  ): Promise<LoadedClusterPolicies> {
    const until = this.#now() + MODULES_MS;
    const problems: Problem[] = [];
    for (;;) {
      let cancel = (): void => {};
      const changed = new Promise<void>((resolve) => {
        this.#changed = resolve;
        const timer = setTimeout(resolve, Math.max(0, until - this.#now()));
        cancel = () => clearTimeout(timer);
      });
      const loaded = await cluster.load(this.#audited(all), isTaken);
      loaded.taken();
      problems.push(...loaded.problems);
      if (loaded.isWaiting && this.#now() < until) await changed;
      cancel();
      if (!loaded.isWaiting || this.#now() >= until) return { ...loaded, problems };
    }
  }

  /** The same entries, such that all failures show; what is read on the way is remembered. */
  #audited(all: ClusterEntries): ClusterEntries {
    const entries = all.entries.map((each) => ({
      ...each,
      read: () => {
        const { entry, problems } = each.read();
        this.#read.set(each.id, entry);
        return { entry: auditEntry(entry), problems };
      },
    }));
    return { ...all, entries };
  }

  /** A policy that is served as before was made of what it was made of before, also when its newest version is broken. */
  #entryOf(served: ServedPolicy): readonly LoadedEntry[] {
    const known = this.#origins.get(served.id);
    const entry = known?.policy === served.policy ? known.entry : (this.#read.get(served.id) ?? known?.entry);
    if (entry === undefined) return [];
    this.#origins.set(served.id, { policy: served.policy, entry });
    return [{ entry, served }];
  }
}

/** Of entries that were taken apart each mistake once, and no doubts: what seems to have no effect may be about the other policies. */
function problemsOf({ entries }: Config, problems: readonly Problem[]): readonly Problem[] {
  const apart = new Set(entries.filter(isOneOfSeveral).flatMap(({ documents }) => documents.map(({ file }) => file)));
  if (apart.size === 0) return problems;
  const meant = problems.filter(({ severity, file }) => severity !== "warning" || !apart.has(file));
  return [...new Map(meant.map((problem) => [formatProblem(problem), problem])).values()];
}
