/** How busy the main thread is, for what is to be done only when it is not. */
import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** Part of its time that the main thread may be at work: a third is left for what comes at once. */
const BUSY_SHARE = 0.66;
/** Milliseconds over which it is measured: long enough for several requests, short enough to notice that more come. */
const WINDOW_MS = 100;

/** What Node measures. */
export interface LoopMeasure {
  /** Monotonic milliseconds. */
  now(): number;
  /** Of the event loop, since its start, or since then. */
  utilization(since?: EventLoopUtilization): EventLoopUtilization;
}

const NODE: LoopMeasure = {
  now: () => performance.now(),
  utilization: (since) => performance.eventLoopUtilization(since),
};

/** The load of this process' main thread. */
export class MainThreadLoad {
  readonly #measure: LoopMeasure;
  #from: EventLoopUtilization;
  #at: number;
  #isHigh = false;

  constructor(measure: LoopMeasure = NODE) {
    this.#measure = measure;
    this.#from = measure.utilization();
    this.#at = measure.now();
  }

  /** Whether it was at work for most of the last tenth of a second, or of the time since it was asked last. */
  isHigh(): boolean {
    const now = this.#measure.now();
    if (now - this.#at >= WINDOW_MS) {
      this.#isHigh = this.#measure.utilization(this.#from).utilization > BUSY_SHARE;
      this.#from = this.#measure.utilization();
      this.#at = now;
    }
    return this.#isHigh;
  }
}
