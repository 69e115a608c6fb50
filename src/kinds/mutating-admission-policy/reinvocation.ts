/** Decides which invocations the second pass evaluates (disposable; spec mutating-admission-policy.md 3). */
export class Reinvocation {
  /** The invocations that may be repeated, since the object has last changed. */
  readonly #invoked = new Set<string>();
  readonly #again = new Set<string>();
  #wanted = false;
  #second = false;

  /** Whether a second pass is needed. */
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

  /** Must be called when the object has changed, or counts as changed: earlier invocations may be repeated. */
  changed(): void {
    this.#wanted = true;
    for (const key of this.#invoked) this.#again.add(key);
    this.#invoked.clear();
  }

  /** Must be called after an invocation that may be repeated. */
  invoked(key: string): void {
    this.#invoked.add(key);
  }

  /** Whether the pass evaluates an invocation. */
  asks(key: string): boolean {
    return !this.#second || this.#again.has(key);
  }
}
