/** Pauses before an ended process is replaced: without one, a process that ends at once would be started again and again. */

/** The first pause. */
const FIRST_MS = 500;
/** Each pause is twice the one before, up to this: no longer pause after its cause is gone. */
const LONGEST_MS = 30_000;
/** A process that served this long does not have a lasting cause: the pauses begin anew. */
const STEADY_MS = 60_000;

/** Pauses before processes are replaced. */
export class Restarts {
  #next = FIRST_MS;

  /**
   * The pause for a process that has ended.
   * @param served milliseconds that it served; 0 when it never did
   */
  pause(served: number): number {
    if (served >= STEADY_MS) this.#next = FIRST_MS;
    const pause = this.#next;
    this.#next = Math.min(2 * pause, LONGEST_MS);
    return pause;
  }
}
