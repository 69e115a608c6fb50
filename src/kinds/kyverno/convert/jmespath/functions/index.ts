/** The functions of JMESPath, Kyverno's own ones included. */
import type { Scope } from "../../scope.js";
import type { Term } from "../../term.js";

/** `&expression`: what a function such as `sort_by` or `map` makes of each item. */
export interface Reference {
  /** The expression with the item as its current value; a missing key is null. */
  readonly apply: (item: Term) => Term;
}

/** An argument. A missing key in it is null. */
export type Argument = Reference | Term;

/**
 * Writes a call of a function as CEL.
 * @throws NotConverted where these arguments have no counterpart
 */
export type QueryFunction = (args: readonly Argument[], scope: Scope) => Term;

/** The functions that are converted, by their names. */
export const FUNCTIONS: ReadonlyMap<string, QueryFunction> = new Map();
