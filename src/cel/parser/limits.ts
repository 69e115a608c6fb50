/** The limits of parsing, equal to the reference's (spec kubernetes-cel.md 1.1): what is refused there must be refused here. */

/** Most code points of an expression. */
export const MAX_CODE_POINTS = 100_000;

/** Most activations of one grammar rule at a time, and counted nodes on one path of the tree: both parser and checker recurse that deep. */
export const MAX_DEPTH = 250;

/** Most attempts to continue after a syntax error. */
export const MAX_RECOVERIES = 30;

/** Most tokens skipped in one attempt to continue. */
export const MAX_SKIPPED_TOKENS = 256;

/** Most syntax errors reported. */
export const MAX_SYNTAX_ERRORS = 100;

/**
 * Nodes up to which a macro may copy its target, as `optMap` does: a chain of them doubles the tree with each. The reference has no such limit;
 * checking so many takes about 0.1 s.
 */
export const MAX_COPIED_NODES = 20_000;
