/** When a call counts as long, as slow, and as one that must give way. The pool looks at all calls every few milliseconds. */

/** Milliseconds between two checks of all calls. Time limits are kept as exactly as this. */
export const TICK_MS = 5;
/** Milliseconds after which no other call waits in the mailbox behind a call: most calls take a tenth of one. */
export const LONG_AFTER_MS = 5;
/** Milliseconds after which a call leaves its slot; few calls take so long. */
export const SLOW_AFTER_MS = 25;
/** Milliseconds after which a call of a policy that has answered before may be broken off: on a busy machine also a quick one takes long at times. */
export const BREAK_KNOWN_AFTER_MS = 100;
/**
 * Milliseconds before which no thread gets a low priority. It gets one when half of its call's time is over: an honest guest that takes long must
 * not time out because of that. Calls of policies that time out repeatedly have a low priority from the start.
 */
const LOW_PRIORITY_AFTER_MS = 250;
/** Half of a call's time is at most so many milliseconds, also when its limit is high or there is none. */
const MAX_HALF_TIME_MS = 2_000;

/**
 * Milliseconds after which a call gets a low priority.
 * @param isCheck of settings: no request waits for it
 * @param limit milliseconds that it may take in all
 */
export function normalPriorityMs(isCheck: boolean, limit: number): number {
  return isCheck ? LOW_PRIORITY_AFTER_MS : Math.max(LOW_PRIORITY_AFTER_MS, Math.min(limit / 2, MAX_HALF_TIME_MS));
}
