/** Time as an approver sees it. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /**
   * Calls once, when so many milliseconds have passed. It keeps no process alive.
   * @returns takes it back
   */
  after(milliseconds: number, call: () => void): () => void;
}

/** The machine's. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
