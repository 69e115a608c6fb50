/** The patience of a watch, in milliseconds. */
import {
  ANSWER_KEPT_MS,
  FAILURE_KEPT_MS,
  FIRST_BACKOFF_MS,
  LAST_BACKOFF_MS,
  LAST_FAILURE_MS,
  LAST_REFUSAL_MS,
  LAST_REST_MS,
  MAX_STALENESS_MS,
  PAGE_REST_MS,
  WATCH_SILENCE_MS,
} from "./limits.js";

/** See the constants of the same names in limits.ts. */
export interface WatchTiming {
  readonly silence: number;
  readonly firstBackoff: number;
  readonly lastBackoff: number;
  readonly staleness: number;
}

/** For real clusters. */
export const WATCH_TIMING: WatchTiming = {
  silence: WATCH_SILENCE_MS,
  firstBackoff: FIRST_BACKOFF_MS,
  lastBackoff: LAST_BACKOFF_MS,
  staleness: MAX_STALENESS_MS,
};

/** The wait before the attempt after this many failures; spread, so that not all clients meet a restarted API server at once. */
export function backoff(failures: number, { firstBackoff, lastBackoff }: WatchTiming): number {
  if (failures === 0) return 0;
  return Math.min(lastBackoff, firstBackoff * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

/**
 * Milliseconds from the failure of a list until it is read again, if it is still needed then.
 * @param failures consecutive failures, this one included
 * @param pages the pages that were read
 * @param refused whether the API server refuses it: a repetition would be refused, too
 */
export const restAfterFailure = (failures: number, pages: number, refused: boolean): number =>
  Math.min(
    LAST_REST_MS,
    Math.max(
      // The page that has failed does not count.
      (pages - 1) * PAGE_REST_MS,
      Math.min(refused ? LAST_REFUSAL_MS : LAST_FAILURE_MS, FAILURE_KEPT_MS * 2 ** Math.min(failures - 1, 30)),
    ),
  );

/** Milliseconds from a list that may not be watched until it is read again, if it is still needed then. */
export const restAfterList = (pages: number): number =>
  Math.min(LAST_REST_MS, Math.max(ANSWER_KEPT_MS, pages * PAGE_REST_MS));
