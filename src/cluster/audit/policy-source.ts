/** The source of an audit's policies: a configuration, a cluster, or both; unchanged policies stay loaded. */
import {
  type ClusterDelta,
  ClusterDocuments,
  type ClusterEntries,
  type ClusterEntry,
  type ClusterEntryOptions,
  ClusterEntryReader,
  Rollouts,
} from "../../config/from-cluster/index.js";
import { type Config, type ConfigEntry, formatProblem, type Problem } from "../../config/index.js";
import { member, text } from "../../kubernetes/object.js";
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
import { isOneOfSeveral, rulesOf } from "./one-policy-entries.js";

type ClusterPolicies = ReturnType<PolicyLoader["clusterPolicies"]>;
type LoadedClusterPolicies = Awaited<ReturnType<ClusterPolicies["load"]>>;

/** The beginning of the keys of MutatingAdmissionPolicies. */
const MUTATING = "admissionregistration.k8s.io/MutatingAdmissionPolicy/";
/** Of keys of Kyverno's policies of the old language. */
const OLD_KYVERNO = "kyverno.io/";

/** Time that a round waits for modules: as long as a fetch may take. Policies whose modules come later are evaluated in the next round. */
const MODULES_MS = 120_000;

/** The result of loading. */
export interface LoadedAudit extends AuditedPolicies {
  /** Problems beyond those of the configuration. */
  readonly problems: readonly Problem[];
}

/** The source of background policies. */
export class AuditPolicySource {
  readonly #loader: PolicyLoader;
  readonly #documents = new ClusterDocuments();
  /** Rollouts: versions in shadow are not audited. */
  readonly #rollouts = new Rollouts();
  readonly #reader: ClusterEntryReader | undefined;
  readonly #cluster: ClusterPolicies | undefined;
  readonly #now: () => number;
  #file: Config | undefined;
  /** Ids of the served file: they take precedence over the cluster's. */
  #fileIds: ReadonlySet<string> = new Set();
  #loadedFile:
    | { readonly config: Config; readonly entries: readonly LoadedEntry[]; readonly problems: readonly Problem[] }
    | undefined;
  /** The sources of the cluster's policies, by id. */
  readonly #origins = new Map<string, { readonly policy: ServedPolicy["policy"]; readonly entry: ConfigEntry }>();
  /** Entries that were read since the last load, by id. */
  readonly #read = new Map<string, ConfigEntry>();

  /**
   * @param now monotonic milliseconds
   * @param options the choice of a cluster's policies; absent: none
   */
  constructor(loader: PolicyLoader, now: () => number, options?: ClusterEntryOptions) {
    this.#loader = loader;
    this.#now = now;
    if (options === undefined) return;
    this.#reader = new ClusterEntryReader(options);
    this.#cluster = loader.clusterPolicies(() => this.#changed());
  }

  /** Called when a module has arrived. */
  #changed = (): void => {};

  /** Replaces the configuration. */
  useFile(config: Config | undefined): void {
    this.#file = config && auditedConfig(config);
    this.#fileIds = new Set(config?.entries.map(({ id }) => id));
  }

  /**
   * Applies changes of the cluster.
   * @returns false when the delta begins at another version than the present one
   */
  take(delta: ClusterDelta): boolean {
    if (!this.#documents.apply(delta)) return false;
    // Each version is processed, not only those of a round: the version before tells which one was in force.
    this.#rollouts.update(this.#documents.documents);
    return true;
  }

  /** Loads changes; never rejects. */
  async load(): Promise<LoadedAudit> {
    const file = await this.#loadFile();
    const cluster = await this.#loadCluster((id) => this.#fileIds.has(id));
    const audited = auditedPolicies([...file.entries, ...cluster.entries]);
    return { ...audited, problems: [...file.problems, ...cluster.problems] };
  }

  /** Ends waiting for modules; the loader is not closed. */
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
    const found = this.#reader.entries(this.#rollouts.inForce);
    // Objects that exist have been mutated already.
    const all = {
      ...found,
      entries: found.entries
        .filter(({ policies: [first] }) => !first?.key.startsWith(MUTATING))
        .flatMap((each) => (isTaken(each.id) ? [each] : byRule(each))),
    };
    this.#read.clear();
    const { served, problems } = await this.#whole(this.#cluster, all, isTaken);
    const wanted = new Set(all.entries.map(({ id }) => id));
    const entries = served.filter(({ id }) => wanted.has(id)).flatMap((each) => this.#entryOf(each));
    for (const id of this.#origins.keys()) if (!wanted.has(id)) this.#origins.delete(id);
    return { entries, problems };
  }

  /** Loads policies, and waits for their modules: an audit is not urgent. */
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

  /** The same entries, changed to report all failures; entries read on the way are kept. */
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

  /** The source of a served policy: the earlier one if the policy is unchanged, even if its newest version is broken. */
  #entryOf(served: ServedPolicy): readonly LoadedEntry[] {
    const known = this.#origins.get(served.id);
    const entry = known?.policy === served.policy ? known.entry : (this.#read.get(served.id) ?? known?.entry);
    if (entry === undefined) return [];
    this.#origins.set(served.id, { policy: served.policy, entry });
    return [{ entry, served }];
  }
}

/** An entry for each rule of a policy of Kyverno's old language; none for those that change objects: what exists has been changed already. */
function byRule(whole: ClusterEntry): readonly ClusterEntry[] {
  if (!whole.policies.some(({ key }) => key.startsWith(OLD_KYVERNO))) return [whole];
  const { entry } = whole.read();
  const rules = entry.kind === "resource" ? entry.documents.flatMap(rulesOf) : [];
  if (rules.length === 0) return [whole];
  return rules.flatMap((rule, onlyRule) => {
    if (member(rule, "mutate") !== undefined) return [];
    const id = `${whole.id}/${text(rule, "name")}`;
    const read = () => {
      const { entry: made, problems } = whole.read();
      return { entry: made.kind === "resource" ? { ...made, id, onlyRule } : { ...made, id }, problems };
    };
    return [{ ...whole, id, read }];
  });
}

/** Problems of split entries: each error once, and no warnings: a part without effect may be about the other policies. */
function problemsOf({ entries }: Config, problems: readonly Problem[]): readonly Problem[] {
  const apart = new Set(entries.filter(isOneOfSeveral).flatMap(({ documents }) => documents.map(({ file }) => file)));
  if (apart.size === 0) return problems;
  const meant = problems.filter(({ severity, file }) => severity !== "warning" || !apart.has(file));
  return [...new Map(meant.map((problem) => [formatProblem(problem), problem])).values()];
}
