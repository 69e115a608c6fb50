/** Number of taken keys at the front of the array from which on they are removed together: removing each by itself would cost as much as the whole queue. */
const COMPACT_AFTER = 1_024;

/** Keys that wait to be worked on, each once, in order. One that is added again during the work on it waits until that is done. */
export class WorkQueue {
  readonly #waiting = new Set<string>();
  readonly #processing = new Set<string>();
  #order: string[] = [];
  #head = 0;

  /** Number of keys that are waiting. */
  get size(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    if (!this.#processing.has(key)) this.#order.push(key);
  }

  /** The next key, which is then worked on until it is {@link done}; `undefined` when there is none. */
  take(): string | undefined {
    const key = this.#order[this.#head];
    if (key === undefined) return undefined;
    this.#head++;
    if (this.#head >= COMPACT_AFTER && this.#head * 2 >= this.#order.length) {
      this.#order = this.#order.slice(this.#head);
      this.#head = 0;
    }
    this.#waiting.delete(key);
    this.#processing.add(key);
    return key;
  }

  /** Must be called when the work on a key is done. */
  done(key: string): void {
    this.#processing.delete(key);
    if (this.#waiting.has(key)) this.#order.push(key);
  }
}
