/** What hints are made from. */
import type { ParsedExpr } from "../ast.js";
import type { CompileFailure, Issue } from "../public-types.js";
import type { Verdict } from "../samples/trial.js";
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
  /** What an expression does on samples. `own` is the text that its author wrote, `holes` are names that may stand for anything. */
  verdict(source: string, own: string, holes: readonly string[]): Verdict;
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
