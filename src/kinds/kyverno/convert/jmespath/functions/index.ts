/** The functions of JMESPath, Kyverno's own ones included. */
import { NotConverted } from "../../not-converted.js";
import type { Scope } from "../../scope.js";
import type { Term } from "../../term.js";
import { NUMBER_FUNCTIONS } from "./arithmetic.js";
import { LIST_FUNCTIONS } from "./lists.js";
import { TEXT_FUNCTIONS } from "./text.js";
import { TIME_FUNCTIONS } from "./times.js";
import { VERSION_FUNCTIONS } from "./versions.js";

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
export const FUNCTIONS: ReadonlyMap<string, QueryFunction> = new Map([
  ...LIST_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...VERSION_FUNCTIONS,
  refused("is_external_url", "it looks names up in DNS: write the names or networks that are allowed"),
]);

function refused(name: string, instead: string): readonly [string, QueryFunction] {
  return [
    name,
    () => {
      throw new NotConverted([], `the function ${name} of JMESPath is not converted: ${instead}`);
    },
  ];
}
