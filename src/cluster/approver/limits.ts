/** Limits of an approver's work. Times are milliseconds. */

/** Reviews at a time: enough to keep the API server's answers coming, few enough to leave most of the client's connections to lists and events. */
export const MAX_REVIEWS = 8;
/** Time for one review, whatever the limit of its policy: one that hangs must not keep a place forever. */
export const REVIEW_MS = 30_000;
/** Requests in a page of the list: their authors may give each the 1.5 MiB that a cluster stores, and the API server must answer in time. */
export const PAGE_REQUESTS = 25;
/**
 * Bytes in such a page: parsing it must not delay requests for long, whatever its contents. The slowest are labels without values: 60 ms per
 * megabyte. One request always fits.
 */
export const PAGE_BYTES = 2 * 1024 * 1024;
/** Bytes of memory, roughly, for undecided requests; others are fetched when it is their turn: one request may have a megabyte. */
export const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Decided requests that are counted for the metric, at some hundred bytes each: as many as 2 GB of a cluster's storage hold. */
export const MAX_COUNTED = 400_000;
/** Namespaces with a label value of their own in the metric: some thousand lines at most. */
export const MAX_NAMESPACES = 1_000;
/**
 * How long changes of rights and Namespaces settle before requests are reviewed again: access answers are kept for 5 s, and an answer from before
 * the change would leave requests undecided.
 */
export const SETTLE_MS = 6_000;
/** Interval of reviewing all requests where such changes cannot be watched, and of retrying a forbidden watch. */
export const SWEEP_MS = 300_000;
/** Longest text of an event; the API server refuses more (bytes). */
export const MAX_NOTE_BYTES = 1_024;
/** Events written at a time, beside reviews. */
export const EVENTS_AT_A_TIME = 2;
/** Events in one burst; more are dropped, they only inform. */
export const EVENT_BURST = 100;
/** Events per second after that: ten thousand requests that no policy is for must not flood the API server. */
export const EVENTS_PER_SECOND = 10;
/** Events that are kept in mind so as not to be written twice. */
export const MAX_REMEMBERED_EVENTS = 10_000;
/** How long no event is written after one was refused: rights do not change every second. */
export const EVENTS_REFUSED_MS = 300_000;
