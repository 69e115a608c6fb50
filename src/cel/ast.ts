/**
 * The abstract syntax tree of CEL after macro expansion. It has the shapes of the language definition (one comprehension node for every
 * macro), so that checker, cost model and compiler see the same tree as the reference implementation.
 *
 * Positions are code point offsets into the source (spec kubernetes-cel.md 1.7); ids are unique within one tree and start at 1.
 */
import type { Value } from "./values/value.js";

interface Node {
  readonly id: number;
  /** Code point offset of the node's position in the source (spec kubernetes-cel.md 1.7). */
  readonly offset: number;
}

/** A constant: null, bool, int, uint, double, string or bytes. Folding may put any other constant value here. */
export interface LiteralExpr extends Node {
  readonly kind: "literal";
  readonly value: Value;
}

/** A name. `rooted` when written with a leading dot: resolved in the root scope only. */
export interface IdentExpr extends Node {
  readonly kind: "ident";
  readonly name: string;
  readonly rooted: boolean;
}

/** `operand.field`; `testOnly` is the expansion of `has(operand.field)`. */
export interface SelectExpr extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  readonly testOnly: boolean;
}

/** A call by its internal name (`_+_`, `_[_]`, `_?._`, `size`); `target` is the receiver of a member call. */
export interface CallExpr extends Node {
  readonly kind: "call";
  readonly function: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** Free call written with a leading dot. */
  readonly rooted: boolean;
}

/** A list literal; `optional[i]` is true for `[?e]`. */
export interface ListExpr extends Node {
  readonly kind: "list";
  readonly elements: readonly Expr[];
  readonly optional: readonly boolean[];
}

/** One entry of a map literal. Its offset is that of the `:`. */
export interface MapEntry extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

/** A map literal. */
export interface MapExpr extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}

/** One field initialiser of a message literal. Its offset is that of the `:`. */
export interface FieldInit extends Node {
  readonly field: string;
  readonly value: Expr;
  readonly optional: boolean;
}

/** A message literal `a.b.T{f: v}`. */
export interface StructExpr extends Node {
  readonly kind: "struct";
  readonly typeName: string;
  readonly fields: readonly FieldInit[];
}

/** The one loop of CEL. Every iteration macro expands to it (spec kubernetes-cel.md 1.8). */
export interface ComprehensionExpr extends Node {
  readonly kind: "comprehension";
  readonly range: Expr;
  readonly iterVar: string;
  /** Second variable of the two-variable macros; `undefined` for the others. */
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly loopCondition: Expr;
  readonly loopStep: Expr;
  readonly result: Expr;
}

/** Any expression. */
export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr;

/** How a macro call was written, by the id of the node it was expanded to: for explaining and printing expressions as written. */
export type MacroCalls = ReadonlyMap<number, CallExpr>;

/** A parsed expression. */
export interface ParsedExpr {
  readonly source: string;
  readonly expr: Expr;
  readonly macroCalls: MacroCalls;
  /** The largest id in use. */
  readonly maxId: number;
}
