/** Waiting jobs by policy, taken in turns: a policy that sends a thousand calls delays another's first one by a single call. */
export class FairQueue<T> {
  /** In the order in which the keys get their next turn. */
  readonly #queues = new Map<string, T[]>();
  #length = 0;

  get size(): number {
    return this.#length;
  }

  /** Whether an item of this key waits. */
  has(key: string): boolean {
    return this.#queues.has(key);
  }

  /** Whether the next item of any key is such. */
  someNext(isSuch: (item: T) => boolean): boolean {
    for (const [next] of this.#queues.values()) if (next !== undefined && isSuch(next)) return true;
    return false;
  }

  push(key: string, item: T): void {
    const own = this.#queues.get(key);
    if (own) own.push(item);
    else this.#queues.set(key, [item]);
    this.#length++;
  }

  /** Puts an item back to where it was taken from: it is the next one of its key, and its key has the next turn. */
  putBack(key: string, item: T): void {
    const own = this.#queues.get(key) ?? [];
    const others = [...this.#queues].filter(([other]) => other !== key);
    own.unshift(item);
    this.#queues.clear();
    this.#queues.set(key, own);
    for (const [other, items] of others) this.#queues.set(other, items);
    this.#length++;
  }

  /** The next item that may have a turn, of those that are first of their key; its key goes to the end of the round. */
  take(eligible: (key: string, next: T) => boolean): T | undefined {
    for (const [key, items] of this.#queues) {
      const [item] = items;
      if (item === undefined || !eligible(key, item)) continue;
      items.shift();
      this.#queues.delete(key);
      if (items.length > 0) this.#queues.set(key, items);
      this.#length--;
      return item;
    }
    return undefined;
  }

  /** Takes out and returns all items for which `isGone` holds. */
  sweep(isGone: (item: T) => boolean): T[] {
    const gone: T[] = [];
    for (const [key, items] of this.#queues) {
      if (!items.some(isGone)) continue;
      const kept: T[] = [];
      for (const item of items) (isGone(item) ? gone : kept).push(item);
      if (kept.length > 0) this.#queues.set(key, kept);
      else this.#queues.delete(key);
    }
    this.#length -= gone.length;
    return gone;
  }

  /** Empties the queue. */
  drain(): T[] {
    const all = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#length = 0;
    return all;
  }
}
