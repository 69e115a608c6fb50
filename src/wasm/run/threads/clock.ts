/** The time as the pool sees it. Passed in, so that tests can hold it still. */
export interface Clock {
  /** Monotonic milliseconds, on the scale of `EvaluationContext.deadline`. */
  now(): number;
  /** Calls back once after so many milliseconds; returns how to cancel that. */
  after(milliseconds: number, callback: () => void): () => void;
  /** The same for what need not happen when the process has nothing else to do. */
  afterward(milliseconds: number, callback: () => void): () => void;
}

/** The real time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  afterward(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
