/** Waiting jobs by policy, taken in turns: a policy that sends a thousand calls delays another's first one by a single call. */
export class FairQueue<T> {
  /** Queues, in the order of their next turns. */
  readonly #queues = new Map<string, T[]>();
  #length = 0;

  get size(): number {
    return this.#length;
  }

  /** Whether an item of such a key waits. */
  someKey(isSuch: (key: string) => boolean): boolean {
    for (const key of this.#queues.keys()) if (isSuch(key)) return true;
    return false;
  }

  push(key: string, item: T): void {
    const own = this.#queues.get(key);
    if (own) own.push(item);
    else this.#queues.set(key, [item]);
    this.#length++;
  }

  /** The next item of an eligible key; its key goes to the end of the round. */
  take(eligible: (key: string) => boolean): T | undefined {
    for (const [key, items] of this.#queues) {
      if (!eligible(key)) continue;
      const item = items.shift();
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
