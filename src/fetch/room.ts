import { FetchError } from "./fetch-error.js";

/** Releases taken room. Further calls do nothing. */
export type Release = () => void;

interface Entry {
  readonly weight: number;
  readonly enter: (leave: Release) => void;
}

interface Owner {
  /** Of its entries inside. */
  weight: number;
  readonly waiting: Set<Entry>;
}

/** Room for a limited weight at a time. The owner with the least weight enters first, so that none waits for all work of another. */
export class Room {
  readonly #total: number;
  readonly #share: number;
  #used = 0;
  /** Those with entries inside or waiting: there may be tens of thousands of entries. */
  readonly #owners = new Map<string, Owner>();

  /**
   * @param total most weight of all entries; a heavier one enters alone
   * @param share most weight of one owner; a heavier entry enters as its owner's only one
   */
  constructor(total: number, share = total) {
    this.#total = total;
    this.#share = share;
  }

  /** Runs work when there is room. @throws FetchError with the text `late` when the signal is aborted first */
  async run<T>(owner: string, weight: number, signal: AbortSignal, late: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(owner, weight, { signal, late });
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves when there is room. @param until as for {@link run}; absent: it waits as long as it takes */
  enter(
    name: string,
    weight: number,
    until?: { readonly signal: AbortSignal; readonly late: string },
  ): Promise<Release> {
    return new Promise((enter, reject) => {
      const owner = this.#owners.get(name) ?? { weight: 0, waiting: new Set() };
      this.#owners.set(name, owner);
      const gone = (): void => {
        if (!owner.waiting.delete(entry)) return;
        this.#forget(name, owner);
        reject(new FetchError(until!.late, { unanswered: true, shown: until!.late }));
        // One that waited behind it may fit.
        this.#admit();
      };
      const entry: Entry = {
        weight,
        enter(leave) {
          until?.signal.removeEventListener("abort", gone);
          enter(leave);
        },
      };
      owner.waiting.add(entry);
      if (until?.signal.aborted) gone();
      else until?.signal.addEventListener("abort", gone, { once: true });
      this.#admit();
    });
  }

  #admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [name, owner, { weight, enter }] = next;
      owner.waiting.delete(next[2]);
      owner.weight += weight;
      this.#used += weight;
      let isInside = true;
      enter(() => {
        if (!isInside) return;
        isInside = false;
        owner.weight -= weight;
        this.#used -= weight;
        this.#forget(name, owner);
        this.#admit();
      });
    }
  }

  #forget(name: string, { weight, waiting }: Owner): void {
    if (weight === 0 && waiting.size === 0) this.#owners.delete(name);
  }

  /** The next entry. Lighter ones don't pass it: a heavy one would never enter. */
  #next(): readonly [string, Owner, Entry] | undefined {
    if (this.#used >= this.#total) return undefined;
    let next: readonly [string, Owner, Entry] | undefined;
    for (const [name, owner] of this.#owners) {
      const [entry] = owner.waiting;
      if (entry === undefined || (owner.weight > 0 && owner.weight + entry.weight > this.#share)) continue;
      if (next === undefined || owner.weight < next[1].weight) next = [name, owner, entry];
      if (owner.weight === 0) break;
    }
    return next !== undefined && (this.#used === 0 || this.#used + next[2].weight <= this.#total) ? next : undefined;
  }
}
