/** Waiting for an event that a test can only see by looking. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** When it is given up: long after any machine, however busy, has had its turn. No test says with it how long something may take. */
export const GIVE_UP_MS = 120_000;
/** Milliseconds between two looks. */
const LOOK_MS = 5;

/**
 * Waits until something holds.
 * @param more what is to be told when it never does: what a server said, for one
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  more: () => string = () => "",
): Promise<void> {
  const end = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > end) assert.fail(`${what} did not come\n${more()}`);
    await sleep(LOOK_MS);
  }
}

/** A promise, and what settles it. */
export interface Event<T> {
  readonly came: Promise<T>;
  readonly come: (value: T) => void;
}

/** Something that a test waits for, or lets come. */
export function event<T = void>(): Event<T> {
  let come: (value: T) => void = () => {};
  const came = new Promise<T>((resolve) => {
    come = resolve;
  });
  return { came, come };
}
