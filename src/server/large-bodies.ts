/**
 * Large bodies wait for their turn on the main thread before they are read: a megabyte of JSON takes up to 80 ms, and several that came together would
 * hold it one after the other before anybody else is looked at. What has been waiting is not read when its client has gone meanwhile.
 */
import type { Turns } from "../policy/turns.js";

/** Bytes from which a body waits: what is read in less than a slice (10 ms) even when it is nothing but empty lists, the costliest JSON there is. */
export const LARGE_BODY = 128 * 1024;
/** Bodies that wait or are being read; more are refused, as a queue of them would hold what nobody has looked at yet: 128 MiB at the default limit of bodies. */
export const MAX_WAITING_BODIES = 64;

/** Large bodies of a process that nobody has read to their end yet. */
export class LargeBodies {
  readonly #turns: Turns;
  #waiting = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /**
   * Resolves when a body may be read, with what is to be called once it has been: until then it counts, for it may take several turns.
   * @returns undefined: too many wait
   */
  wait(): Promise<() => void> | undefined {
    if (this.#waiting >= MAX_WAITING_BODIES) return undefined;
    this.#waiting += 1;
    return this.#turns.next().then(() => () => {
      this.#waiting -= 1;
    });
  }

  /** Resolves when what was read may go on: being read was a turn of its own. */
  next(): Promise<void> {
    return this.#turns.next();
  }
}
