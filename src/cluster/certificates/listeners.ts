/** Those who want to be told of something. */
export class Listeners {
  readonly #calls = new Set<() => void>();

  /** @returns takes it back */
  add(call: () => void): () => void {
    // The same function may be there twice.
    const own = (): void => call();
    this.#calls.add(own);
    return () => this.#calls.delete(own);
  }

  /** Tells all. */
  tell(): void {
    for (const call of this.#calls) call();
  }
}
