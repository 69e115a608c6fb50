import type { Clock } from "../../data/clock.js";
import { AnswerTooLarge, ApiError, ResourceError } from "./errors.js";
import { FIRST_RETRY_MS, LAST_LIST_RETRY_MS } from "./limits.js";
import type { ListTarget, WatchedList } from "./watched-list.js";

/** How a list is followed, and started again. */
export interface Following<T extends ListTarget> {
  readonly begin: () => Pick<WatchedList<T>, "ready" | "ended" | "stop">;
  readonly clock: Clock;
  /** Receives the error of a list that has failed for good, and whether that is because it is forbidden, or too large. It is started again later. */
  readonly failed: (error: unknown, refused: boolean) => void;
  /** Milliseconds until a forbidden list is tried again; default: as after any failure, twice as long each time. */
  readonly refusedMs?: number;
}

/**
 * Follows a list until the signal is aborted.
 * @param failures consecutive failures before
 */
export function followUntil<T extends ListTarget>(
  signal: AbortSignal,
  following: Following<T>,
  failures: number = 0,
): void {
  if (signal.aborted) return;
  const { begin, clock, failed, refusedMs } = following;
  const list = begin();
  let listedAt: number | undefined;
  let cancel = (): void => {};
  list.ready.then(
    () => {
      listedAt = clock.now();
    },
    // Callers that wait for the first list get the error by `ended`, too.
    () => {},
  );
  const stop = (): void => {
    list.stop();
    cancel();
  };
  signal.addEventListener("abort", stop, { once: true });
  void list.ended.then((error) => {
    if (signal.aborted) return;
    const refused = isRefusal(error);
    failed(error, refused);
    // A list that may not be watched fails right after each complete listing.
    const before = listedAt !== undefined && clock.now() - listedAt >= LAST_LIST_RETRY_MS ? 0 : failures;
    const doubled = Math.min(LAST_LIST_RETRY_MS, FIRST_RETRY_MS * 2 ** before);
    cancel = clock.after(refused ? (refusedMs ?? doubled) : doubled, () => {
      signal.removeEventListener("abort", stop);
      followUntil(signal, following, before + 1);
    });
  });
}

/** Whether a failure is likely to last: rights and resources do not change every second, and a list that is too large costs the API server most. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AnswerTooLarge ||
  error instanceof ResourceError ||
  (error instanceof ApiError && [401, 403, 404].includes(error.status));
