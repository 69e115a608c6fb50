import type { PolicySetRoute } from "../config/from-cluster/cluster-document.js";
import type { Clock } from "../data/clock.js";

/**
 * How long a set of policies is answered after it is none any more: webhooks name it until all replicas have loaded the next one, which may take a
 * process as long as it is waited for. Policies that are gone are answered for a minute (`loader/from-cluster`), and then left out of such a set.
 */
const KEPT_MS = 300_000;
/** Sets that are kept so: of a hundred changes in that time, as many as there are webhooks in a large cluster. */
const MOST_KEPT = 1_000;

/** Sets that webhooks may still name. */
export class KeptSets {
  readonly #clock: Clock;
  readonly #expired: () => void;
  #current: ReadonlyMap<string, PolicySetRoute> = new Map();
  readonly #kept = new Map<string, { readonly route: PolicySetRoute; readonly cancel: () => void }>();

  /** @param expired told when a set is not answered any more */
  constructor(clock: Clock, expired: () => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  /** @returns the sets that there are now, and those that there were a while ago, by their hashes */
  with(sets: readonly PolicySetRoute[]): readonly PolicySetRoute[] {
    const now = new Map(sets.map((route) => [route.hash, route]));
    for (const [hash, route] of this.#current) if (!now.has(hash)) this.#keep(route);
    for (const hash of now.keys()) this.#drop(hash);
    this.#current = now;
    const all = [...now.values(), ...Array.from(this.#kept.values(), ({ route }) => route)];
    return all.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  }

  /** Nothing expires any more. */
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
