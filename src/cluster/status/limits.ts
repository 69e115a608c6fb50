/** Bounds on writing statuses. Times are milliseconds. */

/** Between the beginnings of two writes: ten in a second are polite, and a thousand policies take less than two minutes. */
export const WRITE_EVERY_MS = 100;
/** Writes under way at a time: a slow API server gets no more. */
export const MAX_WRITES = 4;
/** How long changes are gathered: replicas load a change one soon after the other, and one write says it of all. */
export const GATHER_MS = 500;
/** How long the same is not written again to a policy whose status somebody else changes. */
export const SAME_AGAIN_MS = 60_000;
/** Policies that are compared at a time before others have their turn. */
export const COMPARED_AT_A_TIME = 100;
