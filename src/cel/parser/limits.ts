/** The limits of parsing, as the reference has them (spec kubernetes-cel.md 1.1): what is refused there must be refused here. */

/** Code points of an expression. */
export const MAX_CODE_POINTS = 100_000;

/** Activations of one grammar rule at a time, and counted nodes on one path of the tree: both parser and checker recurse that deep. */
export const MAX_DEPTH = 250;

/** Attempts to go on after a syntax error. */
export const MAX_RECOVERIES = 30;

/** Tokens skipped in one attempt to go on. */
export const MAX_SKIPPED_TOKENS = 256;

/** Syntax errors reported. */
export const MAX_SYNTAX_ERRORS = 100;

/**
 * Nodes up to which a macro may copy its target, as `optMap` does: a chain of them doubles the tree with each. The reference has no such limit;
 * checking so many takes about 0.1 s.
 */
export const MAX_COPIED_NODES = 20_000;
