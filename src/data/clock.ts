/** A clock with timers. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /**
   * Calls back once, after so many milliseconds; after 24 days at the latest. It keeps no process alive.
   * @returns cancels the call
   */
  after(milliseconds: number, call: () => void): () => void;
}

/**
 * Calls once, when so many milliseconds have passed; the process lives until then.
 * @returns takes it back
 */
export type After = (milliseconds: number, call: () => void) => () => void;

/** By the machine's time. */
export const afterTimeout: After = (milliseconds, call) => {
  const timer = setTimeout(call, milliseconds);
  return () => clearTimeout(timer);
};

/** The longest delay of the machine's timers: longer ones end at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's clock. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, Math.min(milliseconds, LONGEST_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
