/** Sends changes of the cluster to the serving processes: gathered, as differences, one after the other. */
import type {
  ClusterDelta,
  ClusterDocument,
  LoadedPolicyReport,
  PolicySetRoute,
} from "../config/from-cluster/cluster-document.js";
import type { Clock } from "../data/clock.js";
import type { Logger } from "../telemetry/logger.js";
import type { ClusterState } from "./cluster-state.js";
import type { Serving } from "./serving.js";
import { COALESCE_MS } from "./sources/limits.js";
import type { Sources } from "./sources/sources.js";

/**
 * How long a set of policies is still answered after it is no longer used: webhooks name it until all replicas have loaded the next one, for which a
 * process has just as long. Removed policies are answered for a minute (`loader/from-cluster`), and then left out of such a set.
 */
const KEPT_MS = 300_000;
/** Most sets that are kept so: of a hundred changes in that time, as many as there are webhooks in a large cluster. */
const MOST_KEPT = 1_000;

/** The sets that webhooks may still name. */
class KeptSets {
  readonly #clock: Clock;
  readonly #expired: () => void;
  #current: ReadonlyMap<string, PolicySetRoute> = new Map();
  readonly #kept = new Map<string, { readonly route: PolicySetRoute; readonly cancel: () => void }>();

  /** @param expired called when a set is no longer answered */
  constructor(clock: Clock, expired: () => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  /** @returns the present sets, and former ones that are still kept, by their hashes */
  with(sets: readonly PolicySetRoute[]): readonly PolicySetRoute[] {
    const now = new Map(sets.map((route) => [route.hash, route]));
    for (const [hash, route] of this.#current) if (!now.has(hash)) this.#keep(route);
    for (const hash of now.keys()) this.#drop(hash);
    this.#current = now;
    const all = [...now.values(), ...Array.from(this.#kept.values(), ({ route }) => route)];
    return all.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  }

  /** Ends all timers. */
  stop(): void {
    for (const { cancel } of this.#kept.values()) cancel();
  }

  #keep(route: PolicySetRoute): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#drop(oldest);
    const cancel = this.#clock.after(KEPT_MS, () => {
      this.#kept.delete(route.hash);
      this.#expired();
    });
    this.#kept.set(route.hash, { route, cancel });
  }

  #drop(hash: string): void {
    this.#kept.get(hash)?.cancel();
    this.#kept.delete(hash);
  }
}

/** The options of a feed. */
export interface FeedOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly serving: Omit<Serving, "shadows">;
  readonly sources: Pick<Sources, "complete" | "documents" | "item" | "unread">;
  /** Derives the sets of policies that webhooks ask about together from the documents. */
  readonly setsOf: (documents: ReadonlyMap<string, ClusterDocument>) => readonly PolicySetRoute[];
  /** Called with a state that all processes serve. */
  readonly served: (state: ClusterState, reports: readonly LoadedPolicyReport[]) => void;
}

/** Sends changes. No change is sent before all sources were listed: a missing object would look deleted. */
export class StateFeed {
  readonly #options: FeedOptions;
  /** As it was told last; its version is 0 before that. */
  #state: ClusterState = { version: 0, documents: new Map(), sets: [], unread: [] };
  readonly #dirty = new Set<string>();
  readonly #kept: KeptSets;
  #again = false;
  #telling = false;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#kept = new KeptSets(options.clock, () => this.look());
  }

  /** Must be called with the keys of documents that may have changed. */
  changed(keys: Iterable<string>): void {
    for (const key of keys) this.#dirty.add(key);
    this.#soon();
  }

  /** Must be called when more sources were read, or sets have changed. */
  look(): void {
    this.#again = true;
    this.#soon();
  }

  /** Ends sending. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#kept.stop();
  }

  #soon(): void {
    if (this.#stopped || this.#telling || this.#cancel !== undefined) return;
    this.#cancel = this.#options.clock.after(COALESCE_MS, () => {
      this.#cancel = undefined;
      void this.#tell();
    });
  }

  async #tell(): Promise<void> {
    const { sources, serving, served } = this.#options;
    // Later on a kind that is being read does not delay the others.
    if (this.#state.version === 0 && !sources.complete) return;
    this.#again = false;
    const delta = this.#delta();
    const unread = sources.unread.map(({ resource }) => resource);
    if (delta !== undefined || unread.join() !== this.#state.unread.join()) {
      this.#state = { ...this.#state, unread };
      const state = this.#state;
      this.#telling = true;
      let reports: readonly LoadedPolicyReport[] = [];
      try {
        if (delta !== undefined) reports = await serving.serve(delta, state);
      } finally {
        this.#telling = false;
      }
      if (this.#stopped) return;
      served(state, reports);
    }
    if (this.#dirty.size > 0 || this.#again) this.#soon();
  }

  /** The changes since the last delta; undefined when there are none. */
  #delta(): ClusterDelta | undefined {
    const { sources } = this.#options;
    const { version: base, documents: before, sets: setsBefore } = this.#state;
    const keys = base === 0 ? new Set([...sources.documents()].map(({ key }) => key)) : this.#dirty;
    const put: ClusterDocument[] = [];
    const removed: string[] = [];
    for (const key of keys) {
      const now = sources.item(key)?.document;
      if (now === before.get(key)) continue;
      if (now === undefined) removed.push(key);
      else put.push(now);
    }
    this.#dirty.clear();
    const documents = put.length + removed.length === 0 ? before : changedBy(before, put, removed);
    const sets = this.#setsOf(documents);
    if (base !== 0 && documents === before && JSON.stringify(sets) === JSON.stringify(setsBefore)) return undefined;
    this.#state = { ...this.#state, version: base + 1, documents, sets };
    return { version: base + 1, base, put, removed, sets };
  }

  /** A policy that sets cannot be derived of keeps none from being served: then they stay as they were. */
  #setsOf(documents: ClusterState["documents"]): readonly PolicySetRoute[] {
    const { setsOf, log } = this.#options;
    try {
      return this.#kept.with(setsOf(documents));
    } catch (error) {
      log.error("which policies webhooks ask about together could not be found out: that stays as it was", {
        error: error instanceof Error ? error.stack : String(error),
      });
      return this.#state.sets;
    }
  }
}

function changedBy(
  before: ClusterState["documents"],
  put: readonly ClusterDocument[],
  removed: readonly string[],
): ClusterState["documents"] {
  const documents = new Map(before);
  for (const key of removed) documents.delete(key);
  for (const document of put) documents.set(document.key, document);
  return documents;
}
