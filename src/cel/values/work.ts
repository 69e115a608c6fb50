/** Counts the work of operations that grow with their operands, so that it can be limited, or the clock looked at in time. */

/** A counter from which work is subtracted. */
export interface Work {
  /** Units left, about a nanosecond each; below zero the caller must end the work or look at the clock. */
  left: number;
  /** The keys of a map that is a plain object. */
  keysOf(map: object): readonly string[];
}

/** A limited amount of work: for one call that compares many values (disposable). */
export class BoundedWork implements Work {
  /** @param left units of work */
  constructor(public left: number) {}

  keysOf(map: object): readonly string[] {
    return Object.keys(map);
  }
}
