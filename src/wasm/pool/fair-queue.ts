/** Waiting jobs by policy, taken in turns: a policy that sends a thousand calls delays another's first one by a single call. */

/** A queue of queues. */
export class FairQueue<T> {
  /** In the order in which the keys get their next turn. */
  readonly #lines = new Map<string, T[]>();
  #length = 0;

  get size(): number {
    return this.#length;
  }

  push(key: string, item: T): void {
    const line = this.#lines.get(key);
    if (line) line.push(item);
    else this.#lines.set(key, [item]);
    this.#length++;
  }

  /** Puts an item back to where it was taken from: it is the next one of its key, and its key has the next turn. */
  putBack(key: string, item: T): void {
    const line = this.#lines.get(key) ?? [];
    const others = [...this.#lines].filter(([other]) => other !== key);
    line.unshift(item);
    this.#lines.clear();
    this.#lines.set(key, line);
    for (const [other, items] of others) this.#lines.set(other, items);
    this.#length++;
  }

  /** The next item whose key may have a turn; its key goes to the end of the round. */
  take(eligible: (key: string) => boolean): T | undefined {
    for (const [key, line] of this.#lines) {
      if (!eligible(key)) continue;
      const item = line.shift();
      this.#lines.delete(key);
      if (line.length > 0) this.#lines.set(key, line);
      this.#length--;
      return item;
    }
    return undefined;
  }

  /** Takes all items out that nobody waits for any more. */
  sweep(isGone: (item: T) => boolean): T[] {
    const gone: T[] = [];
    for (const [key, line] of this.#lines) {
      if (!line.some(isGone)) continue;
      const kept: T[] = [];
      for (const item of line) (isGone(item) ? gone : kept).push(item);
      if (kept.length > 0) this.#lines.set(key, kept);
      else this.#lines.delete(key);
    }
    this.#length -= gone.length;
    return gone;
  }

  /** Empties the queue. */
  drain(): T[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#length = 0;
    return all;
  }
}
