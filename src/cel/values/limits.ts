/** Limits on results that the cost model charges for only after they are made: without them one call could fill the memory. */
import { Interruption } from "./interruption.js";

/** UTF-16 units of a string made by a function. A whole admission request has at most 3 MiB, so this is out of reach of honest use. */
export const MAX_TEXT_LENGTH = 2 ** 26;

/** Elements of a list made by a function: ten times the cost limit of an expression, which charges one unit for each. */
export const MAX_LIST_LENGTH = 10_000_000;

/**
 * Comparisons of lists, maps and other composed values that one call may make: the cost model charges two units for each, when they are done, and
 * allows a million.
 */
export const MAX_COMPARISONS = 10_000_000;

/** Ends the evaluation as the cost limit does, which a result beyond these sizes would have run into. */
export function tooLarge(): never {
  throw new Interruption("limit");
}
