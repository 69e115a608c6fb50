/** Measures for how long a condition has held without a break. It is not stored: a new observer waits anew, whatever the clocks. */
export class Steady {
  #key: string | undefined;
  #since = 0;

  /**
   * Records the present state.
   * @param key the subject: with a new one the measurement begins anew
   * @param now monotonic milliseconds
   * @returns for how many milliseconds it has held; 0 while it does not
   */
  note(key: string, holds: boolean, now: number): number {
    if (!holds) {
      this.#key = undefined;
      return 0;
    }
    if (this.#key !== key) this.#since = now;
    this.#key = key;
    return now - this.#since;
  }
}
