/** How patient a watch is, in milliseconds. */
import { FIRST_BACKOFF_MS, LAST_BACKOFF_MS, MAX_STALENESS_MS, WATCH_SILENCE_MS } from "./limits.js";

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

/** How long to wait before the attempt after this many failures; spread, so that a restarted API server is not met by all at once. */
export function backoff(failures: number, { firstBackoff, lastBackoff }: WatchTiming): number {
  if (failures === 0) return 0;
  return Math.min(lastBackoff, firstBackoff * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
