/**
 * Large bodies wait for their turn on the main thread before they are read: a megabyte of JSON takes up to 80 ms, and several together would
 * block all other requests one after the other. A waiting body is not read when its client has gone meanwhile.
 */
import { SLICE_MS, type Turns } from "../policy/turns.js";

/** Bytes from which on a body waits: a smaller one is read in less than a slice (10 ms) even when it has only empty lists, the costliest JSON there is. */
export const LARGE_BODY = 128 * 1024;
/** Most bodies that wait or are being read; more are refused, because a longer queue would take too much memory: 128 MiB at the default limit of bodies. */
export const MAX_WAITING_BODIES = 64;

/** The unread large bodies of a process. */
export class LargeBodies {
  readonly #turns: Turns;
  #waiting = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /**
   * Resolves when a body may be read, with a function to be called once it has been: until then it counts, since it may take several turns.
   * @returns undefined: too many wait
   */
  wait(): Promise<() => void> | undefined {
    if (this.#waiting >= MAX_WAITING_BODIES) return undefined;
    this.#waiting += 1;
    return this.#turns.next().then(() => () => {
      this.#waiting -= 1;
    });
  }

  /** Resolves when a request may continue after its body was read: that was a turn of its own. */
  next(): Promise<void> {
    return this.#turns.next();
  }

  /**
   * Reads a body in steps, which give others their turn.
   * @param isWanted whether the client still waits
   * @returns undefined when it does not
   */
  async inTurns<T>(steps: Iterator<unknown, T>, isWanted: () => boolean): Promise<T | undefined> {
    let since = performance.now();
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value;
      if (performance.now() - since < SLICE_MS) continue;
      await this.next();
      if (!isWanted()) return undefined;
      since = performance.now();
    }
  }
}
