/** Limits on work for a cluster. */
import { setTimeout as delay } from "node:timers/promises";

/** A limit on one piece of work. */
export interface WorkLimit {
  readonly signal: AbortSignal;
  /** Waits; rejects when the signal comes. */
  sleep(milliseconds: number): Promise<void>;
  /** To be called when the work is done: lets go of clock and outer signal. */
  done(): void;
}

/** A limit that follows a signal and a clock. */
export function endWithin(outer: AbortSignal, milliseconds: number): WorkLimit {
  const controller = new AbortController();
  const { signal } = controller;
  const end = (): void => controller.abort();
  if (outer.aborted) end();
  outer.addEventListener("abort", end, { once: true });
  const timer = setTimeout(end, milliseconds);
  return {
    signal,
    sleep: (wait: number): Promise<void> => delay(wait, undefined, { signal }),
    done(): void {
      clearTimeout(timer);
      outer.removeEventListener("abort", end);
    },
  };
}
