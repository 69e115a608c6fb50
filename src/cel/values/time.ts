import { MARK } from "./mark.js";

/**
 * Instants and lengths of time with nanoseconds. Parsing, printing and arithmetic stand in siblings of this file.
 */

/** An instant (spec kubernetes-cel.md 2.1): year 1 to 9999, with the offset it was written with, which only `string()` shows. */
export class Timestamp {
  get [MARK](): true {
    return true;
  }

  /**
   * @param seconds Unix seconds, -62135596800 … 253402300799
   * @param nanos 0 … 999999999, always counted forward from `seconds`
   * @param offsetSeconds the zone offset it was parsed with, in seconds east of UTC
   */
  constructor(
    readonly seconds: number,
    readonly nanos: number,
    readonly offsetSeconds: number = 0,
  ) {}
}

/** A length of time: int64 nanoseconds. */
export class Duration {
  get [MARK](): true {
    return true;
  }

  /** @param nanos nanoseconds within int64; a `number` when it is a safe integer, else a `bigint` */
  constructor(readonly nanos: number | bigint) {}
}
