/** For how long something has held without a break. It is not written down: whoever begins to look waits anew, whatever clocks say. */
export class Steady {
  #key: string | undefined;
  #since = 0;

  /**
   * Notes how it is now.
   * @param key what it is about: of another one nothing is known yet
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
