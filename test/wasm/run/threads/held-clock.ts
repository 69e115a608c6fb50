/** A clock that the test holds. */
import type { Clock } from "../../../../src/wasm/run/threads/clock.js";

/** Its time passes, and its timers run, when the test says so. */
export function heldClock() {
  const timers = new Map<() => void, number>();
  let now = 0;
  const after: Clock["after"] = (milliseconds, callback) => {
    timers.set(callback, now + milliseconds);
    return () => timers.delete(callback);
  };
  const clock: Clock = { now: () => now, after, afterward: after };
  /** Lets time pass without a timer. */
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  /** Lets time pass and runs the timers that are due then, each once. */
  const tick = (milliseconds: number) => {
    pass(milliseconds);
    for (const [callback, due] of [...timers]) if (due <= now && timers.delete(callback)) callback();
  };
  return { clock, timers, pass, tick };
}
