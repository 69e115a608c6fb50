/** A converted expression of JMESPath, with what is known about its values. */
import type { Cel } from "./cel-text.js";
import type { Shape } from "./pattern/shape.js";

/** The type of a value; `number`: an int or a double; `scalar`: a text, number or boolean; `dyn`: not known. */
export type TermType = "bool" | "double" | "dyn" | "int" | "list" | "map" | "null" | "number" | "scalar" | "string";

/** A CEL expression that stands for a value of the old language. */
export interface Term {
  readonly cel: Cel;
  readonly type: TermType;
  /** Whether it may be null: of JMESPath's functions and paths many answer null where CEL has an error. */
  readonly nullable: boolean;
  /** Whether its evaluation may fail, where the old language fails, too: a missing key of a plain path. */
  readonly fails: boolean;
  /** Of a list: what is known about its items. */
  readonly items?: Omit<Term, "cel">;
  /** The JSON value, where it is a constant. */
  readonly constant?: { readonly value: unknown };
  /** The schema of the value, where it is of a built-in kind. */
  readonly shape?: Shape | undefined;
  /** Of a path: the value as an optional one, which is none where a key is missing. */
  readonly optional?: Cel;
  /** Of a list that is null where something is missing: the same, but empty there. */
  readonly orEmpty?: Cel;
  /** Whether the value counts as true in `||`, `&&`, `!` and filters, where that is shorter than a test of the value. */
  readonly truth?: Cel;
  /** Of what arithmetic and functions of times answer: the value as what CEL calculates with; an error where it is something else. */
  readonly quantity?: Cel;
  readonly duration?: Cel;
  readonly timestamp?: Cel;
  readonly number?: Cel;
  /** Of the list of a map's keys: the map. */
  readonly keysOf?: Cel;
}
