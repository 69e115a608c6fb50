/** Counting the work of what grows with its operands, for those who bound it or look at the clock after so much of it. */

/** What work is taken from. */
export interface Work {
  /** Units left, about a nanosecond each; below zero it is the caller's to end the work or to look at the clock. */
  left: number;
  /** The keys of a map that is a plain object. */
  keysOf(map: object): readonly string[];
}

/** So much work and no more: for one call that compares many values (disposable). */
export class BoundedWork implements Work {
  /** @param left units of work */
  constructor(public left: number) {}

  keysOf(map: object): readonly string[] {
    return Object.keys(map);
  }
}
