/** The pool's clock; tests can stop it. */
export interface Clock {
  /** Monotonic milliseconds, on the scale of `EvaluationContext.deadline`. */
  now(): number;
  /** Calls back once after this many milliseconds; returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
  /** The same without keeping the process alive. */
  afterward(milliseconds: number, callback: () => void): () => void;
}

/** The real clock. */
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
