import { orAborted } from "../data/or-aborted.js";
import { FetchError } from "./fetch-error.js";

/** Releases taken room. Further calls do nothing. */
export type Release = () => void;

interface Entry {
  readonly owner: string;
  readonly weight: number;
  readonly enter: (leave: Release) => void;
}

/** Room for a limited weight at a time. The owner with the least weight enters first, so that none waits for all work of another. */
export class Room {
  readonly #total: number;
  readonly #share: number;
  readonly #inside = new Set<Entry>();
  readonly #waiting = new Set<Entry>();

  /**
   * @param total most weight of all entries; a heavier one enters alone
   * @param share most weight of one owner; a heavier entry enters as its owner's only one
   */
  constructor(total: number, share = total) {
    this.#total = total;
    this.#share = share;
  }

  /**
   * Runs work when there is room.
   * @param late what an abort is called that comes before
   * @throws FetchError then
   */
  async run<T>(owner: string, weight: number, signal: AbortSignal, late: string, work: () => Promise<T>): Promise<T> {
    const entered = this.enter(owner, weight);
    try {
      await orAborted(entered, signal, late).catch((cause: unknown) => {
        throw new FetchError(late, { cause, unanswered: true, shown: late });
      });
      return await work();
    } finally {
      void entered.then((leave) => leave());
    }
  }

  /** Resolves when there is room. */
  enter(owner: string, weight: number): Promise<Release> {
    return new Promise((enter) => {
      this.#waiting.add({ owner, weight, enter });
      this.#admit();
    });
  }

  #admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const entry = next;
      this.#waiting.delete(entry);
      this.#inside.add(entry);
      entry.enter(() => {
        if (this.#inside.delete(entry)) this.#admit();
      });
    }
  }

  /** The next entry. Lighter ones don't pass it: a heavy one would never enter. */
  #next(): Entry | undefined {
    let used = 0;
    const owners = new Map<string, number>();
    for (const { owner, weight } of this.#inside) {
      used += weight;
      owners.set(owner, (owners.get(owner) ?? 0) + weight);
    }
    let next: Entry | undefined;
    for (const entry of this.#waiting) {
      const own = owners.get(entry.owner) ?? 0;
      if (own > 0 && own + entry.weight > this.#share) continue;
      if (next === undefined || own < (owners.get(next.owner) ?? 0)) next = entry;
    }
    return next !== undefined && (used === 0 || used + next.weight <= this.#total) ? next : undefined;
  }
}
