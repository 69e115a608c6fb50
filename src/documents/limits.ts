/** Bounds on documents: a hostile or broken one ends in an error, never in an exhausted server. */

/** Deepest nesting of maps and lists. Real settings stay below 20; composing YAML is recursive, so this also protects the stack. */
export const MAX_DEPTH = 200;
/** Most values that the aliases of one document may stand for together: the end of an alias bomb. Values written out are bounded by the file. */
export const MAX_ALIASED_VALUES = 100_000;
