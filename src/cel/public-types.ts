/** The types of the engine's public face; the engine itself uses them from here. */
import type { Expr, ParsedExpr } from "./ast.js";
import type {
  HostFunction,
  KubernetesMinor,
  Library,
  ObjectTypeDeclaration,
  VariableDeclaration,
} from "./declarations.js";
import type { Waiting } from "./questions.js";
import type { Type } from "./types.js";
import type { CelError } from "./values/cel-error.js";
import type { Lazy } from "./values/lazy.js";
import type { Result, Value } from "./values/value.js";

/** What an environment is made of. */
export interface EnvironmentOptions {
  /**
   * `kubernetes`: the API server's environment (its libraries, macros, validators, homogeneous literals) as of `version`;
   * `standard`: plain CEL with every extension library.
   */
  readonly flavour: "kubernetes" | "standard";
  /** Environment version for `kubernetes` (137 is 1.37, the default). */
  readonly version?: KubernetesMinor;
  readonly variables?: readonly VariableDeclaration[];
  readonly objectTypes?: readonly ObjectTypeDeclaration[];
  readonly functions?: readonly HostFunction[];
  readonly libraries?: readonly Library[];
  /** The container in which names are resolved (`standard` only; default none). */
  readonly container?: string;
}

/** One problem of an expression, at a place in it. */
export interface Issue {
  /** 1-based line; -1 where the problem has no place. */
  readonly line: number;
  /** 1-based column in code points; 0 where the problem has no place. */
  readonly column: number;
  readonly message: string;
}

/** Why an expression did not compile. */
export interface CompileFailure {
  readonly ok: false;
  /** All problems, in order of place. Empty when `phase` is `program`. */
  readonly issues: readonly Issue[];
  /** The problems as the reference prints them, with source lines and carets (spec kubernetes-cel.md 7.7); for `program` the bare text. */
  readonly text: string;
  /** `program`: found while building the program (constant folding, constant patterns). */
  readonly phase: "compile" | "program";
}

/** A compiled expression. */
export interface Compiled {
  readonly ok: true;
  readonly program: Program;
}

/** How to compile. */
export interface CompileOptions {
  /** Decorations compiled in; the plain path pays nothing for those left out. */
  readonly trace?: boolean;
  /** Count cost (default true for `kubernetes`). */
  readonly cost?: boolean;
  /** Check types first (the default). Without, every part is dyn and unknown names are errors of evaluation. */
  readonly check?: boolean;
}

/** What an evaluation gets. */
export interface EvaluationOptions {
  /** Cost units this evaluation may use; exceeding gives the error `operation cancelled: actual cost limit exceeded`. */
  readonly costLimit?: number;
  /** Monotonic milliseconds after which evaluation stops with `operation interrupted`, and the clock that tells them. */
  readonly deadline?: { readonly at: number; readonly now: () => number };
  /** Handed to host functions. */
  readonly state?: unknown;
  /** With `trace`: gets the value of every evaluated node by expression id (last value wins inside loops). */
  readonly onValue?: (id: number, result: Result) => void;
}

/**
 * The values of an environment's variables. A missing one is the error `no such attribute(s): NAME`.
 * A {@link Lazy} is asked at first use; it must memoise itself if it is costly.
 */
export type Bindings = { readonly [name: string]: Value | Lazy | CelError | undefined };

/** The outcome of an evaluation. */
export interface Evaluation {
  /** The value or error; {@link Waiting} when the answer of a host function is on its way. */
  readonly result: Result | Waiting;
  /** Cost units used, also when it ended in an error; 0 when not counted. */
  readonly cost: number;
}

/** An expression ready to be evaluated any number of times. It keeps no state between evaluations. */
export interface Program {
  readonly source: string;
  readonly type: Type;
  readonly parsed: ParsedExpr;
  /** The result when it is the same for all bindings (folding found a constant). */
  readonly constant: Value | undefined;
  /** Static cost estimate without size hints; uint64 (spec kubernetes-cel.md 5.4). */
  estimate(): { readonly min: bigint; readonly max: bigint };
  /** Evaluates once, synchronously. */
  evaluate(bindings: Bindings, options?: EvaluationOptions): Evaluation;
  /** The checked expression after folding, for tools. */
  readonly checked: Expr;
}

/** Declarations that expressions are compiled against. Immutable; making one is not cheap, so make it once and share it. */
export interface Environment {
  /** Parses, checks, folds and compiles; never throws for any input. */
  compile(source: string, options?: CompileOptions): Compiled | CompileFailure;
  /** Parses and checks only: for type checking without running. */
  check(source: string): { readonly ok: true; readonly type: Type; readonly parsed: ParsedExpr } | CompileFailure;
  /** A new environment with more declarations. */
  extend(options: Pick<EnvironmentOptions, "variables" | "objectTypes" | "functions" | "libraries">): Environment;
}
