/** One time for all threads of the process: `performance.now()` counts from each thread's own start. */

/** Number of readings of both clocks; a thread may lose its processor between the two, so the quickest pair counts. */
const LOOKS = 8;

/** Monotonic milliseconds, the same in every thread. Made once by each thread; a reading costs no more than `performance.now()`. */
export function sharedClock(): () => number {
  let offset = 0;
  let quickest = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    const before = performance.now();
    const shared = Number(process.hrtime.bigint()) / 1e6;
    const took = performance.now() - before;
    if (took >= quickest) continue;
    quickest = took;
    offset = shared - before;
  }
  return () => performance.now() + offset;
}
