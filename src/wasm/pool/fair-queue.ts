/** Waiting jobs by policy, taken in turns: a policy that sends a thousand calls delays another's first one by a single call. */

/** A queue of queues. */
export class FairQueue<T> {
  /** In the order in which the keys get their next turn. */
  private readonly lines = new Map<string, T[]>();
  private length = 0;

  get size(): number {
    return this.length;
  }

  push(key: string, item: T): void {
    const line = this.lines.get(key);
    if (line) line.push(item);
    else this.lines.set(key, [item]);
    this.length++;
  }

  /** The next item whose key may have a turn; its key goes to the end of the round. */
  take(eligible: (key: string) => boolean): T | undefined {
    for (const [key, line] of this.lines) {
      if (!eligible(key)) continue;
      const item = line.shift();
      this.lines.delete(key);
      if (line.length > 0) this.lines.set(key, line);
      this.length--;
      return item;
    }
    return undefined;
  }

  /** Takes an item out of its line, because nobody waits for it any more. */
  remove(key: string, item: T): boolean {
    const line = this.lines.get(key);
    const index = line?.indexOf(item) ?? -1;
    if (!line || index < 0) return false;
    line.splice(index, 1);
    if (line.length === 0) this.lines.delete(key);
    this.length--;
    return true;
  }

  /** Empties the queue. */
  drain(): T[] {
    const all = [...this.lines.values()].flat();
    this.lines.clear();
    this.length = 0;
    return all;
  }
}
