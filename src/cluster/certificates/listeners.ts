/** A list of callbacks. */
export class Listeners {
  readonly #calls = new Set<() => void>();

  /** @returns removes the callback */
  add(call: () => void): () => void {
    // The same function may be there twice.
    const own = (): void => call();
    this.#calls.add(own);
    return () => this.#calls.delete(own);
  }

  /** Calls all of them. */
  tell(): void {
    for (const call of this.#calls) call();
  }
}
