/** Bounds on events about policies. Times are milliseconds. */

/** Between two events on a policy. */
export const EVENTS_EVERY_MS = 60_000;
/** Policies about which one look writes: those that have denied most. Events are for people, and the API server keeps them an hour. */
export const MAX_EVENTS = 20;
/** How long nothing is written where the account may not. */
export const REFUSED_MS = 300_000;
/** Longest name of an object. */
export const MAX_NAME = 253;
/** Longest note: Kubernetes allows 1 KiB. */
export const MAX_NOTE = 1_000;
