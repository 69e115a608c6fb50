import { MARK } from "./mark.js";

/**
 * An unsigned 64-bit integer. `value` is a `number` when it is a safe integer, else a `bigint`, like the representation of int.
 */
export class Uint {
  get [MARK](): true {
    return true;
  }

  /** @param value 0 … 2^64-1, normalised: use {@link uintOf} where it may not be */
  constructor(readonly value: number | bigint) {}
}

/** The uint of an integer in 0 … 2^64-1 (the caller has checked the range). */
export function uintOf(value: number | bigint): Uint {
  if (typeof value === "bigint" && value <= Number.MAX_SAFE_INTEGER) return new Uint(Number(value));
  return new Uint(value);
}
