import type { TestClock } from "../support/test-clock.js";

/** Milliseconds of a stop between two turns of the event loop, in which one connection is accepted and what has come is read. */
const STEP_MS = 5;

/** Lets so much of a stop's time pass. */
export async function passTime(clock: TestClock, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= STEP_MS) {
    clock.move(Math.min(STEP_MS, left));
    await new Promise(setImmediate);
  }
}
