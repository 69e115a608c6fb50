/** The counts of all replicas for versions in shadow, including those that have gone: all replicas keep them, since any of them may become the leader. */
import type { ReplicaInfo } from "../replicas.js";
import { readFact, SHADOW_FACT, type ShadowFact, type ToldCounts } from "./fact.js";

/** Most gone instances that are kept: more than come and go while there is no leader. */
const MAX_GONE = 1000;

/** The counts of live replicas for one version. */
export interface Standing {
  /** Counts by instance. */
  readonly told: ReadonlyMap<string, { readonly lost: number; readonly counts: ToldCounts }>;
  /** Names of replicas that do not report it, or not its latest counts, or could not load it. */
  readonly silent: readonly string[];
  /** The final announcement of an instance that has gone; undefined: none was seen. */
  readonly lastWord: (
    instance: string,
  ) => { readonly isEnded: boolean; readonly counts: ToldCounts | undefined } | undefined;
}

/** The replicas' counts. */
export class ReplicaCounts {
  #live: ReadonlyMap<string, ShadowFact | undefined> = new Map();
  readonly #gone = new Map<string, ShadowFact>();

  /** Takes over the announcements of live replicas. */
  see(live: readonly ReplicaInfo[]): void {
    const before = this.#live;
    this.#live = new Map(live.map(({ name, facts }) => [name, readFact(facts[SHADOW_FACT])]));
    const now = new Set(Array.from(this.#live.values(), (fact) => fact?.instance));
    for (const fact of before.values())
      if (fact !== undefined && !now.has(fact.instance)) this.#gone.set(fact.instance, fact);
    for (const instance of this.#gone.keys()) {
      if (this.#gone.size <= MAX_GONE) break;
      this.#gone.delete(instance);
    }
  }

  /** The counts of one version. */
  of(version: string): Standing {
    const told = new Map<string, { readonly lost: number; readonly counts: ToldCounts }>();
    const silent: string[] = [];
    for (const [name, fact] of this.#live) {
      const counts = fact?.counts.get(version);
      if (fact !== undefined && counts !== undefined) told.set(fact.instance, { lost: fact.lost, counts });
      if (fact === undefined || counts === undefined || counts.isBroken || fact.isStale) silent.push(name);
    }
    return { told, silent, lastWord: (instance) => this.#lastWord(instance, version) };
  }

  #lastWord(instance: string, version: string): ReturnType<Standing["lastWord"]> {
    const fact = this.#gone.get(instance);
    return fact && { isEnded: fact.isEnded, counts: fact.counts.get(version) };
  }
}
