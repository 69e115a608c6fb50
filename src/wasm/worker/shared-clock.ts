/** One time for all threads of the process: `performance.now()` counts from each thread's own start. */

/** Monotonic milliseconds, the same in every thread. Made once by a thread that wants to know; a look costs no more than `performance.now()`. */
export function sharedClock(): () => number {
  const nanoseconds = process.hrtime.bigint();
  const offset = Number(nanoseconds) / 1e6 - performance.now();
  return () => performance.now() + offset;
}
