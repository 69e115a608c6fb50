/** A converted expression of JMESPath, with what is known about its values. */
import type { Cel } from "./cel-text.js";

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
}
