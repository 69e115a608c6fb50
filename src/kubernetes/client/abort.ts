import { setMaxListeners } from "node:events";

/** A limit on one piece of work. */
export interface WorkLimit {
  readonly signal: AbortSignal;
  /** Must be called when the work is done: releases clock and outer signal. */
  done(): void;
}

/** A limit that follows a signal, perhaps another one, and a clock. */
export function endWithin(outer: AbortSignal, milliseconds: number, also?: AbortSignal): WorkLimit {
  const controller = new AbortController();
  const { signal } = controller;
  const end = (): void => controller.abort();
  if (outer.aborted || also?.aborted) end();
  // A server's own signal has as many listeners as there is work under way.
  setMaxListeners(0, outer);
  outer.addEventListener("abort", end, { once: true });
  also?.addEventListener("abort", end, { once: true });
  const timer = setTimeout(end, milliseconds);
  return {
    signal,
    done(): void {
      clearTimeout(timer);
      outer.removeEventListener("abort", end);
      also?.removeEventListener("abort", end);
    },
  };
}
