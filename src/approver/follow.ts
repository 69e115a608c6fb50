import type { ListTarget, WatchedList } from "../kubernetes/client/watched-list.js";
import type { Clock } from "./clock.js";

/** How a list is begun, and begun again. */
export interface Following<T extends ListTarget> {
  readonly begin: () => WatchedList<T>;
  readonly clock: Clock;
  /** Told when the list has failed for good, as without rights: the milliseconds after which it is begun anew. */
  readonly failed: (error: unknown) => number;
}

/** Follows a list until the signal says stop. */
export function followUntil<T extends ListTarget>(signal: AbortSignal, following: Following<T>): void {
  if (signal.aborted) return;
  const list = following.begin();
  let cancel = (): void => {};
  // Whoever waits for the first list is told by `ended`, too.
  list.ready.catch(() => {});
  const stop = (): void => {
    list.stop();
    cancel();
  };
  signal.addEventListener("abort", stop, { once: true });
  void list.ended.then((error) => {
    if (signal.aborted) return;
    cancel = following.clock.after(following.failed(error), () => {
      signal.removeEventListener("abort", stop);
      followUntil(signal, following);
    });
  });
}
