/** Limits on results that the cost model charges for only after they are made: without them one call could fill the memory. */
import { Interruption } from "./interruption.js";

/**
 * Most UTF-16 units of a string made by a function. A whole admission request has at most 3 MiB, so this is out of reach of honest use; and one call
 * makes as many in some 20 ms.
 */
export const MAX_TEXT_LENGTH = 2 ** 23;

/** Most elements of a list made by a call: twice the cost limit of an expression, which charges one unit for reading each; some 20 ms. */
export const MAX_LIST_LENGTH = 2_000_000;

/**
 * Most work of one call that compares elements of lists with each other, in units of about a nanosecond: some 50 ms. The cost model charges two units for
 * a comparison, and allows a million; but each compared value may be as large as a whole request.
 */
export const MAX_COMPARING_WORK = 50_000_000;

/**
 * Most UTF-16 units of a text that is read as a version or a URL. In use none of them is a thousand characters long, and the work of
 * some grows faster than their length.
 */
export const MAX_READ_LENGTH = 32_768;

/** Most elements of a list that is sorted: some 50 ms. The cost model charges twice the square of their number, and so allows 707. */
export const MAX_SORTED_LENGTH = 100_000;

/** Ends the evaluation with the error that a result is larger than the engine allows. */
export function tooLarge(): never {
  throw new Interruption("size");
}
