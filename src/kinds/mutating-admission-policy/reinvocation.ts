/** Which invocations the second pass asks again (disposable; spec mutating-admission-policy.md 3). */
export class Reinvocation {
  /** Those that may be asked again, since the object has last changed. */
  readonly #invoked = new Set<string>();
  readonly #again = new Set<string>();
  #wanted = false;
  #second = false;

  /** Whether there is to be a second pass. */
  get wanted(): boolean {
    return this.#wanted;
  }

  /** Whether this is the second pass. */
  get second(): boolean {
    return this.#second;
  }

  beginSecondPass(): void {
    this.#second = true;
  }

  /** The object has changed, or was marked as changed: who was asked before may be asked again. */
  changed(): void {
    this.#wanted = true;
    for (const key of this.#invoked) this.#again.add(key);
    this.#invoked.clear();
  }

  /** An invocation that may be asked again has been asked. */
  invoked(key: string): void {
    this.#invoked.add(key);
  }

  /** Whether the pass asks an invocation. */
  asks(key: string): boolean {
    return !this.#second || this.#again.has(key);
  }
}
