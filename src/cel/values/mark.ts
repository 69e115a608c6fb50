/**
 * Distinguishes the engine's own value classes from JSON objects: their prototypes have this symbol, a plain object never does. Generated code
 * checks for it before it reads a field in place (a look-up of a missing symbol costs next to nothing; reading the prototype costs 10 ns).
 */
export const MARK: unique symbol = Symbol("cel value");
