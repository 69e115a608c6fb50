/** Values that are made once for an object, and forgotten with it. */
export class KeptBy<K extends object, P, V> {
  readonly #made = new WeakMap<K, { readonly part: P; readonly value: V }[]>();
  readonly #isSame: (a: P, b: P) => boolean;

  /** @param isSame whether two parts have the same value; each object has only a few of them */
  constructor(isSame: (a: P, b: P) => boolean) {
    this.#isSame = isSame;
  }

  /** The value of a part of an object. */
  get(object: K, part: P, make: () => V): V {
    const made = this.#made.get(object) ?? [];
    const known = made.find((each) => this.#isSame(each.part, part));
    if (known !== undefined) return known.value;
    const value = make();
    if (made.push({ part, value }) === 1) this.#made.set(object, made);
    return value;
  }
}
