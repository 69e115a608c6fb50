/** Processor shares of long calls, in memory that the main thread shares with all workers: it writes, they read. */

/** Int32 fields, each in thousandths of a processor for every single long call. */
const EARLY = 0;
const LATE = 1;
const FIELDS = 2;
const WHOLE = 1000;

/** Shares of one processor, 0 to 1. */
export interface Shares {
  /** Share of a call that has not yet computed longer than its policy's calls do. */
  readonly early: number;
  /** Share of a call that takes longer than its policy's calls do. */
  readonly late: number;
}

/** A view of the shares; each thread makes its own. */
export class SharedShares {
  readonly #fields: Int32Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#fields = new Int32Array(buffer);
  }

  static create(): SharedShares {
    return new SharedShares(new SharedArrayBuffer(FIELDS * 4));
  }

  /** Main thread: publishes shares. */
  publish({ early, late }: Shares): void {
    Atomics.store(this.#fields, EARLY, early * WHOLE);
    Atomics.store(this.#fields, LATE, late * WHOLE);
  }

  /** Worker: the share of a call, more than 0 and at most 1. */
  of(isEarly: boolean): number {
    return Math.max(1, Atomics.load(this.#fields, isEarly ? EARLY : LATE)) / WHOLE;
  }
}
