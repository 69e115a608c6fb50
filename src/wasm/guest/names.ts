/** What rewritten modules import from this host, beside what their protocol gives them. */
export const HOST_MODULE = "policy-group-gateway:host";
/** A module's own memory. */
export const MEMORY_NAME = "memory";
/** The function that a metered module asks for more fuel: () -> i32, see `Budget.refill`. */
export const REFILL_NAME = "refill";

/** How the names begin under which rewritten modules export what their host alone uses; a module that has such a name itself is left as it is. */
export const HIDDEN_PREFIX = "policy-group-gateway:";
/** The function of the start section. */
export const START_NAME = `${HIDDEN_PREFIX}start`;
/** The values of the module's mutable globals, in order; floats as the integers with their bits. */
export const GET_GLOBALS_NAME = `${HIDDEN_PREFIX}get-globals`;
/** Sets them. */
export const SET_GLOBALS_NAME = `${HIDDEN_PREFIX}set-globals`;
/** The marks of what the guest may have written to (`meter/marks`), by size of regions, the lower half: () -> i32. */
export const lowMarksName = (level: number): string => `${HIDDEN_PREFIX}low-marks-${level}`;
/** The upper half, which is read last: that forgets the marks. */
export const highMarksName = (level: number): string => `${HIDDEN_PREFIX}high-marks-${level}`;
