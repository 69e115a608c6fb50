/**
 * Processor shares of long calls. Threads of one process have equal priority, whatever they run: on one processor a looping guest would take half of
 * it from the main thread, which serves all requests. So the main thread publishes the rest, and calls that have computed for some milliseconds rest
 * between stretches so that they take no more.
 */
import type { Shares } from "../worker/shares.js";

/** Factor of the main thread's load: requests come in bursts, and one that comes while a long call computes has to wait for the end of a stretch. */
const MAIN_FACTOR = 2;
/**
 * Least share of one processor for all long calls together, however busy it is: a usual call must end in its time. A server without shares gives it
 * as much.
 */
const EARLY_LEAST = 0.5;
/** The same for calls that take longer than their policy's calls do, probably forever: others must not notice. */
const LATE_LEAST = 0.05;

/** The demand for processors. */
export interface Demand {
  readonly processors: number;
  /** The part of the time for which the main thread computes, 0 to 1. */
  readonly main: number;
  /** Calls that are not long, and threads that start. */
  readonly short: number;
  /** Long calls of policies that don't time out. */
  readonly long: number;
  /** Long calls of policies whose last calls timed out. */
  readonly late: number;
}

/** The share of every single long call. */
export function sharesOf({ processors, main, short, long, late }: Demand): Shares {
  const left = Math.max(0, processors - Math.min(1, MAIN_FACTOR * main) - short);
  const each = (least: number, calls: number) => Math.min(1, Math.max(left, least) / Math.max(1, calls));
  const early = each(EARLY_LEAST, long);
  return { early: processors === 1 ? together(early, long) : early, late: each(LATE_LEAST, long + late) };
}

/**
 * The share of each of several calls with equal parts of one processor. A call counts time in which others have the processor as its own, so with
 * equal parts they would all rest at the same time: three used half of the rest. Each computes with the same probability, and one of them does for
 * the sum of the parts.
 */
const together = (part: number, calls: number): number =>
  calls <= 1 ? part : 1 - (1 - Math.min(1, part * calls)) ** (1 / calls);

/** Weight that a measurement keeps from one reading to the next: a moment without requests does not mean that none come. */
const FADES_BY = 0.8;

/** Measures the main thread's load: its part of the time, 0 to 1, since the last reading, or more when it was higher a moment ago. */
export function mainLoad(): () => number {
  let before = performance.eventLoopUtilization();
  let load = 1;
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    load = Math.max(utilization || 0, load * FADES_BY);
    return load;
  };
}
