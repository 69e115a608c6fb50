/** Gives back what was taken. Once is enough, and twice does no harm. */
export type Release = () => void;

interface Waiting {
  readonly owner: string;
  readonly weight: number;
  readonly enter: (leave: Release) => void;
}

/** Room for a limited weight at a time. The owner that has least in it enters first, so that no owner waits for all work of another. */
export class Room {
  readonly #total: number;
  readonly #share: number;
  readonly #owners = new Map<string, number>();
  #waiting: Waiting[] = [];
  #used = 0;

  /**
   * @param total weight of all that is in it; what is heavier enters alone
   * @param share weight of one owner's; what is heavier enters as the owner's only one
   */
  constructor(total: number, share = total) {
    this.#total = total;
    this.#share = share;
  }

  /** Resolves when there is room. */
  enter(owner: string, weight: number): Promise<Release> {
    return new Promise((resolve) => {
      this.#waiting.push({ owner, weight, enter: resolve });
      this.#admit();
    });
  }

  #admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { owner, weight, enter } = next;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#take(owner, weight);
      let isIn = true;
      enter(() => {
        if (isIn) this.#take(owner, -weight);
        isIn = false;
        this.#admit();
      });
    }
  }

  /** Lighter ones don't pass: what is heavy would never enter. */
  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const each of this.#waiting) {
      const own = this.#of(each.owner);
      if (own > 0 && own + each.weight > this.#share) continue;
      if (next === undefined || own < this.#of(next.owner)) next = each;
    }
    return next !== undefined && (this.#used === 0 || this.#used + next.weight <= this.#total) ? next : undefined;
  }

  #of(owner: string): number {
    return this.#owners.get(owner) ?? 0;
  }

  #take(owner: string, weight: number): void {
    this.#used += weight;
    const own = this.#of(owner) + weight;
    if (own > 0) this.#owners.set(owner, own);
    else this.#owners.delete(owner);
  }
}
