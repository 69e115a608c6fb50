/** A map that holds its first entry itself: most requests have one, for which a `Map` takes longer than all the rest. */
export class SmallMap<V> {
  #key: string | undefined;
  #value: V | undefined;
  #others: Map<string, V> | undefined;

  get(key: string): V | undefined {
    return this.#key === key ? this.#value : this.#others?.get(key);
  }

  /** @param value not `undefined` */
  set(key: string, value: V): void {
    if (this.#key === undefined || this.#key === key) {
      this.#key = key;
      this.#value = value;
      return;
    }
    this.#others ??= new Map();
    this.#others.set(key, value);
  }

  /** The keys in the order in which they were set first. */
  get keys(): readonly string[] {
    if (this.#key === undefined) return [];
    return this.#others === undefined ? [this.#key] : [this.#key, ...this.#others.keys()];
  }
}
