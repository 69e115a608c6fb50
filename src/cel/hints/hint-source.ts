/** What hints are made from. */
import type { ParsedExpr } from "../ast.js";
import type { CompileFailure, Issue } from "../public-types.js";
import type { Type } from "../types.js";

/** A hint that is only given where the environment takes it: the whole expression, changed, has the mistake no more. */
export interface Candidate {
  readonly text: string;
  readonly fixed: string;
  /** Another form that the text names, and that must be taken as well. */
  readonly also?: string;
}

/** What of an environment is asked for hints. */
export interface HintSource {
  check(source: string): { readonly ok: true; readonly type: Type } | CompileFailure;
  parse(source: string): ParsedExpr | undefined;
  /** Whether a proposal for an expression that its author wrote as `own` comes to anything, and not always to the same. */
  isSound(proposal: string, own: string): boolean;
  readonly variables: readonly string[];
  /** Of functions and macros, written as a call without and with a receiver; namespaced ones have their full names. */
  readonly free: ReadonlySet<string>;
  readonly member: ReadonlySet<string>;
  /** The fields of a type; none where they are not known. */
  fieldsOf(type: Type): readonly string[];
  /** Names that mean something elsewhere, and what to say where they are not declared. */
  readonly known: ReadonlyMap<string, string>;
}

/** An expression with a mistake. */
export interface Mistake {
  readonly source: string;
  readonly issue: Issue;
  readonly environment: HintSource;
}
