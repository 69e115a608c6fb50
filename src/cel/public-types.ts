/** The types of the engine's public face; the engine itself uses them from here. */

import type { Behaviour, KubernetesVersion } from "../data/kubernetes-version.js";
import type { Expr, ParsedExpr } from "./ast.js";
import type {
  FunctionDeclaration,
  ObjectTypeDeclaration,
  ObjectTypeProvider,
  VariableDeclaration,
} from "./declarations.js";
import type { Hint } from "./hints/hint.js";
import type { Questions, Waiting } from "./questions.js";
import type { Type } from "./types.js";
import type { CelError } from "./values/cel-error.js";
import type { Lazy } from "./values/lazy.js";
import type { Result, Value } from "./values/value.js";

/**
 * The implementation whose CEL it is. `kubernetes`: the API server's environment (its libraries, macros, validators, homogeneous literals) as of a version;
 * `cel-go`: the environment that the reference implementation has by itself (spec certificate-request-policy.md 5.1), and the extensions that are named; `standard`: the
 * language definition with every extension library.
 */
export type Flavour = "kubernetes" | "cel-go" | "standard";

/** The parts of an environment. */
export interface EnvironmentOptions {
  readonly flavour: Flavour;
  /** For `kubernetes`: the version whose CEL it is (default the newest known). */
  readonly version?: KubernetesVersion;
  /** For `kubernetes`: the behaviour of the server that evaluates (default that of `version`). */
  readonly behaviour?: Behaviour;
  /** For `kubernetes` and `cel-go`: libraries of plain CEL that they leave out and others add (`standard` has them all). */
  readonly extensions?: readonly LanguageExtension[];
  readonly variables?: readonly VariableDeclaration[];
  readonly objectTypes?: readonly ObjectTypeDeclaration[];
  /** Object types that are found by their names. */
  readonly typeProvider?: ObjectTypeProvider;
  /** Lists that an expression makes are {@link MadeList}s, and those that `+` makes {@link ListSum}s (default: lists as those of variables). */
  readonly marksLists?: boolean;
  /** Added to those of the flavour; one that `replaces` takes the place of those of its name. Operators cannot be declared. */
  readonly functions?: readonly FunctionDeclaration[];
  /** The container in which names are resolved (`standard` only; default none). */
  readonly container?: string;
}

/**
 * A library of plain CEL that Kubernetes' own environment is without: `cel.bind`, `base64.…`, `math.…`, `regex.…`; `strings` is the newest
 * version of one that it has (`reverse`, and a `format` that groups no digits). `cel-go` has none of them by itself. `jsonpatch` is what Kubernetes
 * has in mutations only: `jsonpatch.escapeKey`.
 */
export type LanguageExtension = "bindings" | "encoders" | "jsonpatch" | "math" | "regex" | "strings";

/** The kind of a problem: for programs, where people read the message. */
export type IssueCode =
  /** The text is not an expression, or is too large. */
  | "syntax"
  /** A name that is not declared. */
  | "undeclared-reference"
  /** No overload of a function takes arguments of these types. */
  | "no-matching-overload"
  /** A value of another type is needed. */
  | "type-mismatch"
  /** The type has no such field. */
  | "undefined-field"
  /** The type has no fields at all. */
  | "no-field-selection"
  /** A type that is not declared, or is not a message type in a message literal. */
  | "not-a-message"
  /** The range of a macro is neither list nor map. */
  | "not-iterable"
  /** A literal that its function would refuse: a pattern, a duration, a format. */
  | "invalid-argument";

/** One problem of an expression, at a place in it. */
export interface Issue {
  readonly code: IssueCode;
  /** 1-based line; -1 where the problem has no place. */
  readonly line: number;
  /** 1-based column in code points; 0 where the problem has no place. */
  readonly column: number;
  readonly message: string;
  /** The name that is not declared (as written), the field that is not defined, the function without a fitting overload. */
  readonly name?: string;
  /** The id of the expression's part that has the problem, where there is one. */
  readonly id?: number;
  /** The types that do not match: of receiver and arguments, of the operand without such a field, or the type that is needed and the one found. */
  readonly types?: readonly Type[];
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
  /** The type of the expression, where the program could not be built. */
  readonly type?: Type;
}

/** A compiled expression. */
export interface Compiled {
  readonly ok: true;
  readonly program: Program;
}

/** How to compile. */
export interface CompileOptions {
  /** Compiles tracing in; without it the function does no work for it. */
  readonly trace?: boolean;
  /** Count cost (the default, except for `standard`). */
  readonly cost?: boolean;
  /** Check types first (the default). Without, every part is dyn and unknown names are errors of evaluation. */
  readonly check?: boolean;
}

/** The options of an evaluation. */
export interface EvaluationOptions {
  /** Cost units this evaluation may use; exceeding gives the error with code `cost-limit`. */
  readonly costLimit?: number;
  /**
   * Monotonic milliseconds after which evaluation stops with the error of code `interrupted`, and the clock that tells them. It is looked at after
   * so much work, of loops as of calls, that an evaluation stops within a millisecond or the longest single call, some tens of milliseconds.
   *
   * `stretch` (milliseconds, default none) bounds how long this one evaluation may hold its thread, with the same error. It ends only what has
   * exceeded that time and has done work that takes 20 ms and more on any machine as well, so that a process that only was not given its turn
   * is not punished for it; and, behind so much work, what would begin a call that takes longer by its size than what is left of the time. Each
   * repetition of `evaluateAsync` is an evaluation of its own. Evaluations that are part of each other, such as those of variables, are given the
   * same `held`, and are bounded together; a new evaluation sets it to `{ since: undefined, units: 0 }`.
   *
   * `slice` (milliseconds) is the length of a step of `evaluateInSteps`; 0: it pauses wherever it can. `stretch` bounds each of its steps: the time of a single
   * call.
   */
  readonly deadline?: {
    readonly at: number;
    readonly now: () => number;
    readonly stretch?: number;
    readonly held?: { since: number | undefined; units: number };
    readonly slice?: number;
  };
  /** Handed to functions with a `call`. */
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
  /** The value or error; {@link Waiting} when an answer of a function or of a {@link Lazy} binding is on its way. */
  readonly result: Result | Waiting;
  /** Cost units used, also when it ended in an error; 0 when not counted. */
  readonly cost: number;
}

/** An evaluation in steps: it yields so that others get their turn, and is resumed afterwards. */
export type EvaluationSteps = Generator<undefined, Evaluation, undefined>;

/** A variable that an expression names. */
export interface VariableReference {
  /** The full name as it is declared, dots included: `authorizer.requestResource`. */
  readonly name: string;
  /** Of a variable of an object type: the fields read of it; `undefined` where it is used as a whole, or is of another type. */
  readonly fields: readonly string[] | undefined;
}

/** The references of an expression: names of the environment, wherever they stand in it, evaluated or not. */
export interface References {
  readonly variables: readonly VariableReference[];
  /** Full names of functions and methods (`size`, `sets.contains`); not of operators. */
  readonly functions: readonly string[];
}

/** The part of an expression that an error comes from. */
export interface ErrorPlace {
  /** The part's id. */
  readonly id: number;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
  /** The part as it is written, in one line. */
  readonly text: string;
}

/** How `evaluateAsync` evaluates. */
export interface AsyncEvaluationOptions extends EvaluationOptions {
  /** Ends the wait: the result is the error with code `interrupted` then. */
  readonly signal?: AbortSignal;
  /** Limit of different calls with promises as answers (default 100): an expression must not start a thousand requests. */
  readonly callLimit?: number;
  /**
   * The store of answers, in place of `callLimit`: evaluations that share it have one limit, and make a call once among them, those with the
   * same `state`. Functions and {@link Lazy} bindings that put questions of their own there are waited for as well.
   */
  readonly questions?: Questions;
}

/** The outcome of an asynchronous evaluation. */
export interface AsyncEvaluation {
  readonly result: Result;
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
  /** The names that the expression refers to. */
  readonly references: References;
  /** Evaluates once, synchronously. */
  evaluate(bindings: Bindings, options?: EvaluationOptions): Evaluation;
  /**
   * The same in steps of a slice each (see `EvaluationOptions.deadline`), for evaluations so long that others must have their turn meanwhile. It pauses in loops and
   * before calls; {@link Lazy} bindings, fields of objects and functions with a `call` are evaluated in one step. Nothing is traced.
   */
  evaluateInSteps(bindings: Bindings, options: EvaluationOptions): EvaluationSteps;
  /**
   * Evaluates with functions whose answers are promises. Calls that don't depend on each other are made side by side, also on both sides of
   * `&&` and `||` and in every turn of a loop; with their answers the expression is evaluated again, until none is missing.
   */
  evaluateAsync(bindings: Bindings, options?: AsyncEvaluationOptions): Promise<AsyncEvaluation>;
  /**
   * The part that the error of an evaluation comes from: evaluates once more, watching every part, so that other evaluations pay nothing for it.
   * After `evaluateAsync` give it the same `questions` and `state`. `undefined` where the outcome is not the error of a part: a value, or a limit that
   * was reached.
   */
  locate(bindings: Bindings, options?: AsyncEvaluationOptions): ErrorPlace | undefined;
  /** The checked expression after folding, for tools. */
  readonly checked: Expr;
}

/** The names that an expression may use: for completion and suggestions. */
export interface DeclaredNames {
  /** Functions with their namespace, such as `size` and `math.greatest`, and macros. */
  readonly functions: readonly string[];
  /** Methods: names that stand behind a value and a dot. */
  readonly methods: readonly string[];
  readonly variables: readonly VariableDeclaration[];
}

/** Declarations that expressions are compiled against. Immutable; making one is not cheap, so make it once and share it. */
export interface Environment {
  /** Parses, checks, folds and compiles; never throws for any input. */
  compile(source: string, options?: CompileOptions): Compiled | CompileFailure;
  /** Parses and checks only: for type checking without running. */
  check(source: string): { readonly ok: true; readonly type: Type; readonly parsed: ParsedExpr } | CompileFailure;
  /** The declared names, made anew at each call. */
  names(): DeclaredNames;
  /**
   * Proposals of what to write instead, for each issue of a failure; undefined where no correct one is known. They stand beside the messages, which
   * are the reference's.
   * @param known names that have a meaning elsewhere, and the hint for each where it is not declared
   * @param constants whether proposals that read no data are given, too: for a prompt, where expressions need not be rules (default false)
   */
  hints(
    source: string,
    failure: CompileFailure,
    known?: ReadonlyMap<string, string>,
    constants?: boolean,
  ): readonly (Hint | undefined)[];
  /**
   * Whether an expression compiles and has different values: tried on samples of its variables. A proposal must be neither an error nor
   * a constant.
   */
  varies(source: string): boolean;
  /** A new environment with more declarations. */
  extend(options: Pick<EnvironmentOptions, "variables" | "objectTypes" | "functions">): Environment;
}
