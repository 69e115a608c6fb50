/** The inputs of hints. */
import type { ParsedExpr } from "../ast.js";
import type { CompileFailure, Issue } from "../public-types.js";
import type { Type } from "../types.js";

/** A proposed hint, given only if the environment accepts it: the whole expression, changed, no longer has the mistake. */
export interface Candidate {
  readonly text: string;
  readonly fixed: string;
  /** Another form that the text names, and that must be accepted as well. */
  readonly also?: string;
}

/** The questions to an environment that hints need. */
export interface HintSource {
  check(source: string): { readonly ok: true; readonly type: Type } | CompileFailure;
  parse(source: string): ParsedExpr | undefined;
  /** Whether a proposal for an expression that its author wrote as `own` evaluates without error, and not always to the same value. */
  isSound(proposal: string, own: string): boolean;
  readonly variables: readonly string[];
  /** Functions and macros, written as a call without and with a receiver; namespaced ones have their full names. */
  readonly free: ReadonlySet<string>;
  readonly member: ReadonlySet<string>;
  /** The fields of a type; none where they are not known. */
  fieldsOf(type: Type): readonly string[];
  /** Names that have a meaning elsewhere, and the hint for each where it is not declared. */
  readonly known: ReadonlyMap<string, string>;
}

/** An expression with a mistake. */
export interface Mistake {
  readonly source: string;
  readonly issue: Issue;
  readonly environment: HintSource;
}
