/**
 * Marks of a guest's writes, in 64 bits: a memory is divided into regions of the same size, a power of two, and bit k represents the regions k, k +
 * 64, k + 128 and so on. A bit that is set says that they, and {@link SLACK_BYTES} behind each of them, may have been written to. Where memories
 * become much larger than they begin, 64 other bits represent regions eight times as large, and a written region has both its bits set: without them,
 * many writes in the first 4 MiB would restore all of the memory behind as well.
 */

/** Bytes behind a region that its bit covers as well: with them the mark of an object's address covers its fields, and writes across the region's end. */
export const SLACK_BYTES = 4 * 1024;
/** Most bytes of one store. */
const WIDEST_STORE = 16;
/** The largest distance from a marked address that its mark covers. */
export const FARTHEST = SLACK_BYTES - WIDEST_STORE;
/** Number of bits. */
export const REGIONS = 64;
/** Smallest size of regions, as a power of two: at least {@link SLACK_BYTES}, so that addresses shortly behind 0 are in region 0. */
export const SMALLEST_SHIFT = 13;
const PAGE_SHIFT = 16;
/** Large regions are eight small ones: of the small regions of one bit, no two are in the same large region or in neighbouring ones. */
const LARGE_SHIFT = 3;

/** The layout of a module's marks. */
export interface Marking {
  /** Bytes of a region, as powers of two: of the small ones first, then of the large ones, if they have bits. */
  readonly shifts: readonly [number, ...number[]];
}

/**
 * The layout for a memory of this many first pages: twice as much has a bit for each small region, since most memories grow.
 * @param mayBecomeLarge whether it may become many times as large
 */
export function markingFor(pages: number, mayBecomeLarge: boolean): Marking {
  const bits = Math.ceil(Math.log2(Math.max(1, 2 * pages))) + PAGE_SHIFT - Math.log2(REGIONS);
  const shift = Math.max(SMALLEST_SHIFT, bits);
  return { shifts: mayBecomeLarge ? [shift, shift + LARGE_SHIFT] : [shift] };
}
