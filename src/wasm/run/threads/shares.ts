/**
 * How much of a processor long calls may use. Threads of one process have the same right to the processors, whatever they run: on one processor
 * a guest that loops would take half of it from the main thread, which serves all requests. So the main thread says what is left, and calls that have
 * computed for some milliseconds rest between stretches so that they take no more.
 */
import type { Shares } from "../worker/shares.js";

/**
 * The main thread counts as if it were so many times as busy: requests come in bursts, and one that comes while a long call computes has to wait for
 * the end of a stretch.
 */
const MAIN_FACTOR = 2;
/** Of one processor, for all long calls together, however busy it is: a call that is nothing out of the usual must end in its time. A server without shares gives it as much. */
const EARLY_LEAST = 0.5;
/** The same for calls that take longer than their policy's calls do, in all likelihood for ever: others must not notice. */
const LATE_LEAST = 0.05;

/** A call that wants a processor. */
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
 * The share of each of so many calls on one processor that have such equal parts of it. A call takes the time in which others have the processor for its own, so
 * with equal parts they would all rest at the same time: three used half of what was left. Each computes with the same chance, and one of them does for as long as the parts are together.
 */
const together = (part: number, calls: number): number =>
  calls <= 1 ? part : 1 - (1 - Math.min(1, part * calls)) ** (1 / calls);

/** A measurement keeps so much of its weight from one look to the next: a moment without requests does not mean that none come. */
const FADES_BY = 0.8;

/** Measures how busy the main thread is: the part of the time, 0 to 1, since the last look, or more when it was busier a moment ago. */
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
