/** What all replicas tell of versions in shadow, those that have gone among them: all replicas keep it, since any of them may come to lead. */
import type { ReplicaInfo } from "../replicas.js";
import { readFact, SHADOW_FACT, type ShadowFact, type ToldCounts } from "./fact.js";

/** Instances that have gone and are remembered: more than come and go while nobody leads. */
const MAX_GONE = 1000;

/** What live replicas tell of one version. */
export interface Standing {
  /** By instance. */
  readonly told: ReadonlyMap<string, { readonly lost: number; readonly counts: ToldCounts }>;
  /** Names of replicas that tell nothing of it, or not what it has come to since, or could not load it. */
  readonly silent: readonly string[];
  /** The last word of an instance that has gone; undefined: nobody heard any. */
  readonly lastWord: (
    instance: string,
  ) => { readonly isEnded: boolean; readonly counts: ToldCounts | undefined } | undefined;
}

/** What replicas tell. */
export class ReplicaCounts {
  #live: ReadonlyMap<string, ShadowFact | undefined> = new Map();
  readonly #gone = new Map<string, ShadowFact>();

  /** Takes over what live replicas tell now. */
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

  /** What is told of one version. */
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
