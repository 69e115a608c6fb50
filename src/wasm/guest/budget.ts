/** What metered guests may use (`meter/`). */

/** The name of the host's function that a guest asks for more fuel. */
export const REFILL = "refill";

/** Units of a slice. */
const SLICE = 1_000_000;

/** Gives the next slice. Nothing is ended by this yet. */
export const refill = (): number => SLICE;
