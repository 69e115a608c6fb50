/**
 * What a guest has written to is noted in 64 bits: a memory is cut into regions of the same size, a power of two, and bit k stands for the regions k, k + 64,
 * k + 128 and so on. A bit that is set says that they, and {@link SLACK_BYTES} behind each of them, may have been written to. Where memories become much larger than they
 * begin, 64 other bits stand for regions eight times as large, and what was written to has both its bits set: without them a guest that works in many places of
 * its first 4 MiB would have them all brought back in each of the MiB behind.
 */

/** Bytes behind a region that its bit covers as well: with them the mark of an object's address covers its fields, and what crosses the region's end. */
export const SLACK_BYTES = 4 * 1024;
/** Bytes that one store writes at most. */
const WIDEST_STORE = 16;
/** The largest distance from a marked address to one that is covered by its mark. */
export const FARTHEST = SLACK_BYTES - WIDEST_STORE;
/** Bits. */
export const REGIONS = 64;
/** Regions are no smaller than what is behind them, so that what is a little behind address 0 is in region 0. */
export const SMALLEST_SHIFT = 13;
const PAGE_SHIFT = 16;
/** Large regions are eight small ones: of those that a bit stands for together, no two are in one or in neighbouring ones. */
const LARGE_SHIFT = 3;

/** How a module's marks are to be read. */
export interface Marking {
  /** Bytes of a region, as powers of two: of the small ones first, then of the large ones, if they have bits. */
  readonly shifts: readonly [number, ...number[]];
}

/**
 * For a memory that begins with so many pages: twice as much has a bit for each small region, since most memories grow.
 * @param mayBecomeLarge whether it may become many times as large
 */
export function markingFor(pages: number, mayBecomeLarge: boolean): Marking {
  const bits = Math.ceil(Math.log2(Math.max(1, 2 * pages))) + PAGE_SHIFT - Math.log2(REGIONS);
  const shift = Math.max(SMALLEST_SHIFT, bits);
  return { shifts: mayBecomeLarge ? [shift, shift + LARGE_SHIFT] : [shift] };
}
