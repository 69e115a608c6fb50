/** What rewritten modules import from this host, beside what their protocol gives them. */
export const HOST_MODULE = "policy-group-gateway:host";
/** A module's own memory. */
export const MEMORY_NAME = "memory";
/** The function that a metered module asks for more fuel: () -> i32, see `Budget.refill`. */
export const REFILL_NAME = "refill";
